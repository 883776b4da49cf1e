import type { DeadlinePlan } from "./plan.js";

/**
 * Which bound is in force. On a tie the earlier of this list names it.
 *
 * @public
 */
export type LimitedBy = "budget" | "phase-ceiling" | "attempt-ceiling" | "parent" | "stall";

/**
 * `active` until it settles, and then for ever what it settled as.
 *
 * @public
 */
export type DeadlineStatus = "active" | "expired" | "completed" | "cancelled";

/**
 * The persisted state of one attempt's deadline: plain JSON, all instants absolute epoch milliseconds.
 *
 * Write it exactly when an outcome says `changed`, under compare-and-swap on `version`. Read it back with
 * `decodeDeadlineState` of `slipway/schema`, which never takes a partial or contradictory record for a fresh window.
 *
 * @public
 */
export interface DeadlineState {
  readonly schemaVersion: 1;
  /** Grows by one with every change. */
  readonly version: number;
  /** The fencing token of this attempt. */
  readonly attempt: string;
  /** The effective plan, as it was when the attempt started. */
  readonly plan: DeadlinePlan;
  readonly status: DeadlineStatus;
  readonly startedAt: number;
  /** The latest instant this state knows of: time never counts as less, whatever a clock says. */
  readonly observedAt: number;
  /** Deadline of whatever this attempt is a part of, or `null`. */
  readonly parentDeadlineAt: number | null;
  readonly phase: string;
  readonly phaseEnteredAt: number;
  /** End of the budget's window, `null` when unlimited. While paused: as if time had stopped at `pausedAt`. */
  readonly windowEndsAt: number | null;
  readonly pausedAt: number | null;
  /** The highest `seq` of a pause or resume that was seen, `null` before the first. */
  readonly pauseSeq: number | null;
  /** The driver run whose marks these are, 0 before the first that was named. */
  readonly run: number;
  /** High-water marks of this phase and run, in the order in which their (step, part) appeared. */
  readonly marks: readonly ProgressMark[];
  /** The stall limit of the current step, `null` while none applies. */
  readonly stallLimitMs: number | null;
  /** When silence becomes a stall, `null` while no limit applies. While paused: as if time had stopped. */
  readonly stallEndsAt: number | null;
  readonly configuration: RecordedConfiguration | null;
  /** The diagnostic of the recorded configuration's rejection, `null` while it was not rejected. */
  readonly rejection: Rejection | null;
  /** The contents whose first rejection opened its window, latest last. */
  readonly spentRejections: readonly string[];
  readonly expiry: DeadlineExpiry | null;
  readonly completedAt: number | null;
  readonly cancellation: Cancellation | null;
  readonly cleanup: Cleanup;
}

/** How far one part of one step has come. */
export interface ProgressMark {
  readonly step: string | null;
  readonly part: string | null;
  /** The highest position seen, `null` for a step that counts once. */
  readonly position: number | null;
}

/** The committed configuration that the attempt is to be admitted with. */
export interface RecordedConfiguration {
  readonly generation: number;
  /** Digest of the content. Equal digests are the same content under whatever generation. `null` when unknown. */
  readonly digest: string | null;
  /** When it was committed, `null` when the start did not say. */
  readonly committedAt: number | null;
}

/** Why the admitter refused a configuration. */
export interface Rejection {
  readonly generation: number;
  readonly at: number;
  readonly reason: string | null;
  readonly message: string | null;
}

/** The record of an expiry: which bound, when it was due, and when somebody looked. */
export interface DeadlineExpiry {
  readonly phase: string;
  readonly limitedBy: LimitedBy;
  /** The deadline that passed. */
  readonly at: number;
  /** When the expiry was found, at or after `at`. */
  readonly observedAt: number;
  /** The phase's timeout reason. */
  readonly reason: string;
  /** For people: phase, limit, and the diagnostic or the last progress where there was one. */
  readonly message: string;
}

/** Who ended the attempt before its deadline did. */
export interface Cancellation {
  readonly at: number;
  readonly reason: string;
}

/** The state of an attempt's cleanup, the only part of a settled state that still changes. */
export interface Cleanup {
  /** `pending` until it is done or waived, also while it is claimed. */
  readonly status: "none" | "pending" | "done" | "waived";
  /** The latest claim number, 0 before the first. */
  readonly claims: number;
  /** Who cleans up at present and until when, `null` when nobody does. */
  readonly claim: CleanupClaim | null;
  /** Error of the latest failed cleanup. */
  readonly error: string | null;
  readonly doneAt: number | null;
  readonly waiver: CleanupWaiver | null;
}

/** The right to clean up, for a limited time. */
export interface CleanupClaim {
  readonly owner: string;
  readonly at: number;
  readonly until: number;
}

/** An operator's word that a cleanup cannot be done. */
export interface CleanupWaiver {
  readonly by: string;
  readonly reason: string;
  readonly at: number;
}
