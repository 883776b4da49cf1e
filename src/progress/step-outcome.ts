import type { TrackerState } from "./state.js";

/**
 * Why an event was refused.
 *
 * - `unknown-step`: no step has this name.
 * - `other-subject`: the step works on something else.
 * - `stale-run`: it is news of an earlier start of the driver's work.
 * - `invalid-position`, `invalid-total`: not a finite number, 0 or more.
 * - `duplicate`: not above the mark of (step, part), or already so.
 * - `too-many-parts`: 1024 parts, or 8 foreign units, of one step.
 *
 * @public
 */
export type StepRefusal =
  | "unknown-step"
  | "other-subject"
  | "stale-run"
  | "invalid-position"
  | "invalid-total"
  | "duplicate"
  | "too-many-parts";

/**
 * What a deadline is to be told: a position that only rises within a run, and never one for each part.
 *
 * @public
 */
export interface StepSign {
  /** The step that moved. */
  readonly step: string;
  /** The foreign unit of a mere sign of life, `null` for the step's own positions. */
  readonly part: string | null;
  /** The sum over all parts. */
  readonly position: number;
  /** The driver run that reported. */
  readonly run: number;
}

/**
 * The event took effect.
 *
 * @public
 */
export interface StepApplied {
  /** Tells this outcome from a refusal. */
  readonly applied: true;
  /** The state is to be written. */
  readonly changed: true;
  /** The step began with this event. It begins once. */
  readonly started: boolean;
  /** The steps whose completion is to be announced now. Each is announced once, however often it begins again. */
  readonly completed: readonly string[];
  /** News for a deadline, `null` when nothing moved. */
  readonly sign: StepSign | null;
}

/**
 * The event was refused, and the state is the one that was passed in.
 *
 * @public
 */
export interface StepRefused {
  /** Tells this outcome from one that took effect. */
  readonly applied: false;
  /** There is nothing to write. */
  readonly changed: false;
  /** Why it was refused. */
  readonly why: StepRefusal;
}

/**
 * What became of an event.
 *
 * @public
 */
export type StepOutcome = StepApplied | StepRefused;

/**
 * A state and what became of the event. `state` is the very object that was passed in when nothing changed.
 *
 * @public
 */
export interface TrackerStep {
  /** The state that holds now. */
  readonly state: TrackerState;
  /** What became of the event. */
  readonly outcome: StepOutcome;
}
