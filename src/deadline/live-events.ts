import type { DeadlineExpiry, DeadlineState, DeadlineStatus } from "./state.js";

/** A report that raised a mark. */
export interface ProgressNotice {
  readonly attempt: string;
  readonly phase: string;
  readonly step: string | null;
  readonly part: string | null;
  readonly position: number | null;
}

/** A later phase began. */
export interface PhaseNotice {
  readonly attempt: string;
  readonly from: string;
  readonly to: string;
}

/** The window moved to a later end. */
export interface RenewalNotice {
  readonly attempt: string;
  readonly phase: string;
  readonly windowEndsAt: number;
}

/** The attempt ended, in whatever way. */
export interface SettlementNotice {
  readonly attempt: string;
  readonly status: Exclude<DeadlineStatus, "active">;
}

/**
 * The events of a live deadline. None fires twice for the same fact.
 *
 * @public
 */
export interface DeadlineEvents {
  readonly progress: ProgressNotice;
  readonly phase: PhaseNotice;
  readonly renewed: RenewalNotice;
  readonly expired: DeadlineExpiry;
  /** After `expired` as well. */
  readonly settled: SettlementNotice;
  /** A new `version`: the moment to persist. Progress alone is announced at a bounded rate. */
  readonly change: DeadlineState;
}
