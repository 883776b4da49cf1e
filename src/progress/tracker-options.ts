import type { Clock } from "../clock/index.js";
import type { DeadlineOutcome } from "../deadline/index.js";
import type { DeadlineAddress, SignProgress } from "./deadline-feed.js";
import type { TrackerState } from "./state.js";
import type { StepReading } from "./step-reading.js";

/**
 * How a {@link StepTracker} runs.
 *
 * @public
 */
export interface StepTrackerOptions {
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Let the process exit although news is held back. Default `false`. */
  readonly unref?: boolean | undefined;
  /** Shortest time between two `change` events, in milliseconds. Default 200: at most five a second. */
  readonly changeEveryMs?: number | undefined;
  /** Receives what a listener or a fed deadline threw. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Options of {@link StepTracker.restore}. @public */
export interface StepTrackerRestoreOptions extends StepTrackerOptions {
  /**
   * Whether the clock may have been set back since the state was stored, so that each step keeps the time it had
   * taken. Default `true`. For an ordinary load within a process say `false`.
   */
  readonly rebase?: boolean | undefined;
}

/**
 * The events of a {@link StepTracker}.
 *
 * @public
 */
export interface StepTrackerEvents {
  /** A step began. Once for each step. */
  readonly started: StepReading;
  /** A step was finished. Once for each step, however often it begins again. */
  readonly finished: StepReading;
  /** The latest state, at a bounded rate; the last one is always among them. The moment to persist or to redraw. */
  readonly change: TrackerState;
}

/** What takes progress: a `PhasedDeadline`, with or without a store. */
export interface ProgressSink {
  /** Takes one sign of work, and says what became of it. */
  progress(event: SignProgress): DeadlineOutcome | PromiseLike<DeadlineOutcome>;
}

/** How steps feed a deadline. */
export interface FeedOptions {
  /** See {@link DeadlineAddress.phase}. Named, so that a late report never counts for a later phase. */
  readonly phase: DeadlineAddress["phase"];
  /** What became of each event, for a caller who wants to know that the deadline has expired, or refused. */
  readonly onOutcome?: ((outcome: DeadlineOutcome) => void) | undefined;
}
