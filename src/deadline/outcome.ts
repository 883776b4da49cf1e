/**
 * Why an event was refused.
 *
 * - `stale-attempt`: it names another attempt than the state's.
 * - `expired`: the deadline had come before it, which this very call found; the state changed.
 * - `settled`: the attempt had expired, completed or been cancelled before.
 * - `duplicate`: it says nothing new: a position not above the mark, a phase that is entered already, a rejection that
 *   is recorded, a `seq` not above the last.
 * - `stale-run`: progress of an earlier run of the driver's work than the latest heard of.
 * - `other-phase`: progress of a phase of the plan that is not the current one, or a rejection in a phase that changes
 *   do not renew.
 * - `unknown-phase`: the plan has no phase of this name.
 * - `invalid-position`: the position is no finite number, 0 or more.
 * - `too-many-steps`: the phase has as many steps, or parts of steps, as a state keeps.
 * - `backward`: the phase to enter is an earlier one.
 * - `unchanged`: the generation of a change is not above the recorded one.
 * - `stale-commit`: a change that was committed before the recorded one.
 * - `not-current`: a rejection of another configuration than the recorded one.
 * - `not-pausable`: a plan without a ceiling for the attempt, which a pause could hold for ever.
 * - `not-final-phase`: an attempt completes in the last phase only.
 * - `not-needed`: no cleanup is pending.
 * - `claimed`: another owner's claim on the cleanup still holds.
 * - `not-owner`: the claim that this ends is not the latest, or none is held.
 *
 * @public
 */
export type RefusalReason =
  | "stale-attempt"
  | "expired"
  | "settled"
  | "duplicate"
  | "stale-run"
  | "other-phase"
  | "unknown-phase"
  | "invalid-position"
  | "too-many-steps"
  | "backward"
  | "unchanged"
  | "stale-commit"
  | "not-current"
  | "not-pausable"
  | "not-final-phase"
  | "not-needed"
  | "claimed"
  | "not-owner";

/**
 * The event took effect.
 *
 * @public
 */
export interface Applied {
  /** Tells this outcome from a refusal. */
  readonly applied: true;
  /** Whether the state is to be written. */
  readonly changed: boolean;
  /** On `change` and `reject`: whether the window moved to a later end. */
  readonly renewed?: boolean;
  /** On `claim-cleanup`: the number to report the end of the cleanup with. */
  readonly claim?: number;
  /** On `cleanup-done`: it came after the claim's lease, which counts as a failure. */
  readonly overrun?: boolean;
}

/**
 * The event was refused. The state may have changed all the same, when the call found an expiry.
 *
 * @public
 */
export interface Refused {
  /** Tells this outcome from one that took effect. */
  readonly applied: false;
  /** Why it was refused. */
  readonly why: RefusalReason;
  /** Whether the state is to be written. */
  readonly changed: boolean;
}

/**
 * What became of an event.
 *
 * @public
 */
export type DeadlineOutcome = Applied | Refused;

/**
 * A state and what became of the event. `state` is the very object that was passed in when nothing changed.
 *
 * @public
 */
export interface DeadlineStep<State> {
  /** The state that holds now. */
  readonly state: State;
  /** What became of the event. */
  readonly outcome: DeadlineOutcome;
}
