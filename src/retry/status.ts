import { sanitizeReason } from "../conditions/condition-shape.js";
import type { Condition } from "../conditions/index.js";
import { transitionTime } from "../conditions/transition-time.js";
import type { AttemptFailure } from "./attempt-failure.js";
import { BootstrapDeadlineError, BootstrapExhaustedError, BootstrapPermanentError } from "./errors.js";
import type { RunRecord } from "./run-record.js";
import type { RetryState } from "./snapshot.js";

/**
 * A run at one instant, for people and for dashboards.
 *
 * @public
 */
export interface RetryStatus {
  /** Where the run stands. */
  readonly state: RetryState;
  /** How it ended: `null` while it lasts. */
  readonly outcome: "succeeded" | "permanent" | "deadline" | "exhausted" | "cancelled" | null;
  /** Attempts that were started. */
  readonly attempt: number;
  /** When the run began, epoch milliseconds; `null` before it did. */
  readonly startedAt: number | null;
  /** Epoch milliseconds; `null` when no attempt is planned. */
  readonly nextAttemptAt: number | null;
  /** Milliseconds until then, 0 when it is due. */
  readonly nextAttemptInMs: number | null;
  /** The first failure of the run; `null` before it. */
  readonly firstError: AttemptFailure | null;
  /** The latest failure of the run; `null` before the first. */
  readonly lastError: AttemptFailure | null;
  /** Failures by verdict. `cancelled` counts attempts that were cut off. */
  readonly counts: Readonly<Record<"transient" | "permanent" | "suspect" | "cancelled", number>>;
  /** The first failure, and the latest up to `historyLimit`. */
  readonly history: readonly AttemptFailure[];
  /** Failures that the history dropped. */
  readonly omitted: number;
  /** Time since the run began, up to its end; 0 before it did. */
  readonly elapsedMs: number;
  /** Time to the deadline; `Infinity` without one. */
  readonly remainingMs: number;
  /** One sentence for a log. */
  readonly sentence: string;
}

export function statusOf(record: RunRecord): RetryStatus {
  const now = record.now();
  const { history, startedAt } = record;
  const state = publicState(record);
  const nextAttemptAt = state === "waiting" ? record.nextAttemptAt : null;
  return {
    state,
    outcome: outcomeOf(record),
    attempt: record.attempts,
    startedAt,
    nextAttemptAt,
    nextAttemptInMs: nextAttemptAt === null ? null : Math.max(nextAttemptAt - now, 0),
    firstError: record.first ?? null,
    lastError: record.last ?? null,
    counts: {
      transient: record.transientCount,
      permanent: record.permanentCount,
      suspect: record.suspectCount,
      cancelled: record.cancelledCount,
    },
    history,
    omitted: record.omitted,
    elapsedMs: startedAt === null ? 0 : Math.max((record.end?.at ?? now) - startedAt, 0),
    remainingMs: record.remainingMs(),
    sentence: sentenceOf(record, now),
  };
}

/** A refresh of credentials is a part of the attempt that it follows. */
function publicState({ state }: RunRecord): RetryState {
  return state === "refreshing" ? "attempting" : state;
}

function outcomeOf(record: RunRecord): RetryStatus["outcome"] {
  const { state, end } = record;
  if (state === "succeeded" || state === "cancelled") return state;
  return end?.outcome ?? null;
}

function sentenceOf(record: RunRecord, now: number): string {
  const { startedAt } = record;
  const state = publicState(record);
  const attempts = plural(record.attempts, "attempt");
  const elapsed = seconds((record.end?.at ?? now) - (startedAt ?? now));
  const { last } = record;
  const lastly = last === undefined ? "" : `; last failure ${last.code} (${last.verdict}): ${last.message}`;
  switch (state) {
    case "idle":
      return "Bootstrap has not started.";
    case "attempting":
      return `Bootstrap attempt ${record.attempts} is under way after ${elapsed}${left(record)}${lastly}.`;
    case "waiting":
      return `Bootstrap waits ${seconds((record.nextAttemptAt ?? now) - now)} for attempt ${record.attempts + 1} after ${elapsed}${left(record)}${lastly}.`;
    case "succeeded":
      return `Bootstrap succeeded on attempt ${record.attempts} after ${elapsed}.`;
    case "cancelled":
      return `Bootstrap was cancelled after ${attempts} and ${elapsed}${lastly}.`;
    case "failed":
      return `Bootstrap failed after ${attempts} and ${elapsed}: ${why(record)}${lastly}.`;
  }
}

/** Where another process saw the end. */
const UNKNOWN_WAIT = { waitMs: null, remainingMs: 0 };

function why({ end, last }: RunRecord): string {
  const reason = end?.reason;
  if (end?.outcome === "deadline") {
    const { waitMs, remainingMs } = reason instanceof BootstrapDeadlineError ? reason : UNKNOWN_WAIT;
    if (waitMs === null) return "the deadline passed";
    return `the next attempt was due in ${seconds(waitMs)}, the deadline in ${seconds(remainingMs)}`;
  }
  if (end?.outcome === "exhausted")
    return reason instanceof BootstrapExhaustedError
      ? `${reason.maxAttempts} were allowed`
      : "no more attempts were allowed";
  // Where another process saw the end there is no reason left, and it was no mistake of this program.
  if (reason !== undefined && !(reason instanceof BootstrapPermanentError)) return "the retrier was misused";
  return last?.verdict === "suspect" ? "a suspect failure did not pass" : "the failure is permanent";
}

function left(record: RunRecord): string {
  const remaining = record.remainingMs();
  return Number.isFinite(remaining) ? `, ${seconds(remaining)} left` : "";
}

function seconds(ms: number): string {
  return `${Math.max(Math.round(ms / 100) / 10, 0)} s`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const REASONS = {
  idle: "BootstrapPending",
  attempting: "BootstrapInProgress",
  // One reason for both: a status that is written at every attempt would be a write at every attempt.
  waiting: "BootstrapInProgress",
  succeeded: "BootstrapSucceeded",
  cancelled: "BootstrapCancelled",
  permanent: "BootstrapFailed",
  exhausted: "BootstrapAttemptsExhausted",
  deadline: "BootstrapDeadlineExceeded",
} as const;

/**
 * A run as a condition: `True` once it succeeded, `False` before and after a failure. The status changes at most
 * once, so the transition time is the end of a success and the start of everything else.
 */
export function conditionOf(record: RunRecord, type: string): Condition {
  const outcome = outcomeOf(record);
  const { last } = record;
  const succeeded = record.state === "succeeded";
  const at = (succeeded ? record.end?.at : record.startedAt) ?? record.now();
  const base = {
    type,
    status: succeeded ? ("True" as const) : ("False" as const),
    reason: REASONS[outcome ?? (publicState(record) as "idle" | "attempting" | "waiting")],
    message: sentenceOf(record, record.now()),
    lastTransitionTime: transitionTime(at),
  };
  if (succeeded || last === undefined) return base;
  // A code is a peer's word: it may be no reason.
  const cause = { reason: sanitizeReason(last.code), message: `${last.explanation}: ${last.message}` };
  return { ...base, cause };
}
