import type { DeadlineExpiry, DeadlineState, DeadlineStatus } from "./state.js";

/** A report that raised a mark. */
export interface ProgressNotice {
  /** The attempt's fencing token. */
  readonly attempt: string;
  /** The phase that it counts for. */
  readonly phase: string;
  /** The step, `null` for the phase as a whole. */
  readonly step: string | null;
  /** The part of the step, `null` for the step as a whole. */
  readonly part: string | null;
  /** The new highest position, `null` for a report without one. */
  readonly position: number | null;
}

/** A later phase began. */
export interface PhaseNotice {
  /** The attempt's fencing token. */
  readonly attempt: string;
  /** The phase that was left. */
  readonly from: string;
  /** The phase that was entered. */
  readonly to: string;
}

/** The window moved to a later end. */
export interface RenewalNotice {
  /** The attempt's fencing token. */
  readonly attempt: string;
  /** The phase whose window it is. */
  readonly phase: string;
  /** The window's new end, epoch milliseconds. */
  readonly windowEndsAt: number;
}

/** The attempt ended, in whatever way. */
export interface SettlementNotice {
  /** The attempt's fencing token. */
  readonly attempt: string;
  /** What it ended as. */
  readonly status: Exclude<DeadlineStatus, "active">;
}

/**
 * The events of a live deadline. None fires twice for the same fact.
 *
 * @public
 */
export interface DeadlineEvents {
  /** A report raised a mark. */
  readonly progress: ProgressNotice;
  /** A later phase began. */
  readonly phase: PhaseNotice;
  /** The window moved to a later end. */
  readonly renewed: RenewalNotice;
  /** The deadline passed. Not for one that had expired before it was restored. */
  readonly expired: DeadlineExpiry;
  /** After `expired` as well. */
  readonly settled: SettlementNotice;
  /** A new `version`: the moment to persist. Progress alone is announced at a bounded rate. */
  readonly change: DeadlineState;
}
