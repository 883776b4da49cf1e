import type { Backoff } from "./backoff.js";
import type { Random } from "./random.js";
import type { Classification } from "./verdict.js";

/** What a run has to know to decide what follows a failure. Plain JSON. */
export interface RetryProgress {
  /** Attempts that were started. */
  readonly attempts: number;
  /** Failures in a row since the backoff began. */
  readonly failures: number;
  /** The wait that was used last; `null` before the first. */
  readonly previousMs: number | null;
  /** Suspect failures in a row, and when the first of them was. */
  readonly suspects: number;
  /** When the first of the suspect failures in a row was, epoch milliseconds; `null` when there is none. */
  readonly suspectSince: number | null;
  /** Credentials were refreshed in this run. */
  readonly refreshed: boolean;
  /** Failures that were transient. */
  readonly transientCount: number;
  /** Failures that were permanent. */
  readonly permanentCount: number;
  /** Failures that were suspect. */
  readonly suspectCount: number;
  /** Attempts that were cut off. */
  readonly cancelledCount: number;
}

/** The limits that hold for a run. */
export interface RetryPolicy {
  readonly backoff: Backoff;
  readonly random: Random;
  /** `Infinity` for no limit. */
  readonly maxAttempts: number;
  readonly hintCapMs: number;
  readonly suspectAttempts: number;
  readonly suspectForMs: number;
}

/** One failure, with what held when it came. */
export interface FailureFacts {
  readonly classification: Classification;
  readonly now: number;
  /** Time to the deadline; `Infinity` without one. */
  readonly remainingMs: number;
  /** What the peer asked for with the failure before this one; `null` when it asked for nothing. */
  readonly previousHintMs: number | null;
  /** Credentials could be refreshed. */
  readonly canRefresh: boolean;
}

type StoppedBy = "permanent" | "deadline" | "exhausted" | "cancelled";

/** What follows a failure. */
export interface RetryDecision {
  readonly next: "wait" | "refresh" | "stop";
  readonly stoppedBy: StoppedBy | null;
  /** The wait that is due, or that would have been. `null` where none was computed. */
  readonly waitMs: number | null;
  /** What the peer asked for, before any limit. */
  readonly hintMs: number | null;
  readonly hintClamped: boolean;
}

/**
 * The rules of the retrier: `(progress, failure) -> { progress, decision }`, pure but for the draw of jitter.
 *
 * In order: cancelled and permanent end the run, except that a first authentication failure may refresh the
 * credentials; suspect ends it as permanent once its budget of attempts and of time are both used up; then the
 * number of attempts; then the deadline, which ends it as soon as the next wait would reach it.
 */
export function afterFailure(
  progress: RetryProgress,
  facts: FailureFacts,
  policy: RetryPolicy,
): { readonly progress: RetryProgress; readonly decision: RetryDecision } {
  const next = count(progress, facts);
  const { verdict, kind } = facts.classification;
  if (verdict === "cancelled") return { progress: next, decision: stop("cancelled") };
  if (verdict === "permanent") {
    const mayRefresh = kind === "authentication" && facts.canRefresh && !next.refreshed;
    return mayRefresh && next.attempts < policy.maxAttempts && facts.remainingMs > 0
      ? { progress: { ...next, refreshed: true }, decision: REFRESH }
      : { progress: next, decision: stop("permanent") };
  }
  if (isSuspectBudgetSpent(next, facts.now, policy)) return { progress: next, decision: stop("permanent") };
  if (next.attempts >= policy.maxAttempts) return { progress: next, decision: stop("exhausted") };
  const wait = nextWait(next, facts, policy);
  if (wait.waitMs >= facts.remainingMs)
    return { progress: next, decision: { ...wait, next: "stop", stoppedBy: "deadline" } };
  const { failures, ...decision } = wait;
  return {
    progress: { ...next, failures, previousMs: wait.waitMs },
    decision: { ...decision, next: "wait", stoppedBy: null },
  };
}

function count(progress: RetryProgress, { classification, now }: FailureFacts): RetryProgress {
  const { verdict } = classification;
  const suspect = verdict === "suspect";
  return {
    attempts: progress.attempts,
    failures: progress.failures,
    previousMs: progress.previousMs,
    suspects: suspect ? progress.suspects + 1 : 0,
    suspectSince: suspect ? (progress.suspectSince ?? now) : null,
    refreshed: progress.refreshed,
    transientCount: progress.transientCount + (verdict === "transient" ? 1 : 0),
    permanentCount: progress.permanentCount + (verdict === "permanent" ? 1 : 0),
    suspectCount: progress.suspectCount + (suspect ? 1 : 0),
    cancelledCount: progress.cancelledCount + (verdict === "cancelled" ? 1 : 0),
  };
}

/** Both at once: three quick failures prove as little as one old one. */
function isSuspectBudgetSpent(progress: RetryProgress, now: number, policy: RetryPolicy): boolean {
  const { suspects, suspectSince } = progress;
  if (suspectSince === null || suspects < policy.suspectAttempts) return false;
  return now - suspectSince >= policy.suspectForMs;
}

interface Wait {
  readonly failures: number;
  readonly waitMs: number;
  readonly hintMs: number | null;
  readonly hintClamped: boolean;
}

/**
 * `Retry-After` is a floor under the backoff; pushback takes its place and lets it begin anew. A peer that asks for no
 * wait at all twice in a row gets the backoff all the same: answered so every time, the run would storm it.
 */
function nextWait(progress: RetryProgress, facts: FailureFacts, policy: RetryPolicy): Wait {
  const { pushbackMs, retryAfterMs } = facts.classification;
  const longest = Math.max(LAST_INSTANT - facts.now, 0);
  const hintMs = pushbackMs ?? retryAfterMs ?? null;
  const hintClamped = hintMs !== null && hintMs > policy.hintCapMs;
  const bounded = hintMs === null ? 0 : Math.min(hintMs, policy.hintCapMs);
  const { previousHintMs } = facts;
  const isZeroAgain =
    bounded === 0 && previousHintMs !== null && Math.min(previousHintMs, policy.hintCapMs) === 0;
  if (pushbackMs !== undefined && !isZeroAgain)
    return { failures: 0, waitMs: Math.min(bounded, longest), hintMs, hintClamped };
  const failures = progress.failures + 1;
  const waitMs = Math.min(Math.max(delayOf(policy, failures, progress.previousMs), bounded), longest);
  return { failures, waitMs, hintMs, hintClamped };
}

/** The backoff's answer as a wait that can be counted with, whatever a rule of the embedder's own gives. */
export function delayOf(policy: RetryPolicy, failures: number, previousMs: number | null): number {
  const delay: unknown = policy.backoff.delayMs(failures, {
    previousMs: previousMs ?? undefined,
    random: policy.random,
  });
  if (typeof delay !== "number" || !(delay >= 0)) return FALLBACK_MS;
  return Math.min(Math.ceil(delay), Number.MAX_SAFE_INTEGER);
}

/** The last one that a date can have. */
export const LAST_INSTANT = 8_640_000_000_000_000;

/** For a rule that answers NaN, less than nothing or no number: no reason to storm the peer. */
const FALLBACK_MS = 1000;

const REFRESH: RetryDecision = Object.freeze({
  next: "refresh",
  stoppedBy: null,
  waitMs: null,
  hintMs: null,
  hintClamped: false,
});

function stop(stoppedBy: StoppedBy): RetryDecision {
  return { next: "stop", stoppedBy, waitMs: null, hintMs: null, hintClamped: false };
}
