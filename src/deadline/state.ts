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
  /** Version of this shape. A newer one is refused by `decodeDeadlineState`. */
  readonly schemaVersion: 1;
  /** Grows by one with every change. */
  readonly version: number;
  /** The fencing token of this attempt. */
  readonly attempt: string;
  /** The effective plan, as it was when the attempt started. */
  readonly plan: DeadlinePlan;
  /** Whether the attempt runs, or what it ended as. */
  readonly status: DeadlineStatus;
  /** When the attempt began. */
  readonly startedAt: number;
  /** The latest instant this state knows of: time never counts as less, whatever a clock says. */
  readonly observedAt: number;
  /** Deadline of whatever this attempt is a part of, or `null`. */
  readonly parentDeadlineAt: number | null;
  /** Name of the phase that the attempt is in, or ended in. */
  readonly phase: string;
  /** When that phase was entered. */
  readonly phaseEnteredAt: number;
  /** End of the budget's window, `null` when unlimited. While paused: as if time had stopped at `pausedAt`. */
  readonly windowEndsAt: number | null;
  /** Since when the budget is frozen, `null` while it runs. */
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
  /** What the attempt is to be admitted with, `null` while no configuration is known. */
  readonly configuration: RecordedConfiguration | null;
  /** The diagnostic of the recorded configuration's rejection, `null` while it was not rejected. */
  readonly rejection: Rejection | null;
  /** The contents whose first rejection opened its window, latest last. */
  readonly spentRejections: readonly string[];
  /** How it expired, `null` unless `status` is `expired`. */
  readonly expiry: DeadlineExpiry | null;
  /** When it was completed, `null` unless `status` is `completed`. */
  readonly completedAt: number | null;
  /** How it was cancelled, `null` unless `status` is `cancelled`. */
  readonly cancellation: Cancellation | null;
  /** Whether something is left to remove, and who does it. */
  readonly cleanup: Cleanup;
}

/** How far one part of one step has come. */
export interface ProgressMark {
  /** The step, `null` for the phase as a whole. */
  readonly step: string | null;
  /** The part of the step, `null` for the step as a whole. */
  readonly part: string | null;
  /** The highest position seen, `null` for a step that counts once. */
  readonly position: number | null;
}

/** The committed configuration that the attempt is to be admitted with. */
export interface RecordedConfiguration {
  /** Generation under which it was committed. */
  readonly generation: number;
  /** Digest of the content. Equal digests are the same content under whatever generation. `null` when unknown. */
  readonly digest: string | null;
  /** When it was committed, `null` when the start did not say. */
  readonly committedAt: number | null;
}

/** Why the admitter refused a configuration. */
export interface Rejection {
  /** The generation that was refused. */
  readonly generation: number;
  /** When, epoch milliseconds. */
  readonly at: number;
  /** The admitter's word, `null` when it gave none. */
  readonly reason: string | null;
  /** The admitter's message for people, `null` when it gave none. */
  readonly message: string | null;
}

/** The record of an expiry: which bound, when it was due, and when somebody looked. */
export interface DeadlineExpiry {
  /** The phase in which it expired. */
  readonly phase: string;
  /** The bound that passed first. */
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
  /** When, epoch milliseconds. */
  readonly at: number;
  /** Why, as the caller said. */
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
  /** When it was done, epoch milliseconds; `null` before. */
  readonly doneAt: number | null;
  /** Who waived it and why, `null` unless `status` is `waived`. */
  readonly waiver: CleanupWaiver | null;
}

/** The right to clean up, for a limited time. */
export interface CleanupClaim {
  /** Who has it. */
  readonly owner: string;
  /** When it was taken, epoch milliseconds. */
  readonly at: number;
  /** When it lapses, so that another may take it. */
  readonly until: number;
}

/** An operator's word that a cleanup cannot be done. */
export interface CleanupWaiver {
  /** Who took the responsibility. */
  readonly by: string;
  /** Why it cannot be done. */
  readonly reason: string;
  /** When, epoch milliseconds. */
  readonly at: number;
}
