/**
 * Why an event was refused.
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
