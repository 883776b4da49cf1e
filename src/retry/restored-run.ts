import { delayOf, LAST_INSTANT, type RetryPolicy, type RetryProgress } from "./progress.js";
import type { FailureOutcome, RetrySnapshot } from "./snapshot.js";

/** When and how a run ended, and with what: nothing after success, or where another process saw the end. */
export interface RunEnd {
  readonly at: number;
  /** How it failed, if it did. */
  readonly outcome: FailureOutcome | undefined;
  readonly reason: unknown;
}

/** A stored run as this process goes on with it. */
export interface RestoredRun extends RetryProgress {
  readonly startedAt: number | null;
  readonly attemptStartedAt: number | null;
  readonly nextAttemptAt: number | null;
  readonly retryNowAt: number | null;
  readonly end: RunEnd | undefined;
  /** The other process ended in an attempt that is in no history yet. */
  readonly wasInterrupted: boolean;
}

/**
 * The rules of a restore, pure but for the draw of jitter. Under a clock that was set back every instant moves along
 * with it, so that the wait keeps the time it had left, and never more. What the other process ended in counts as
 * failed, or a crash in every attempt or refresh would storm.
 */
export function restoredRun(stored: RetrySnapshot, policy: RetryPolicy, now: number): RestoredRun {
  const shift = Math.min(now - stored.observedAt, 0);
  const moved = (at: number | null): number | null => (at === null ? null : Math.max(at + shift, 0));
  const attemptStartedAt = moved(stored.attemptStartedAt);
  const instants = {
    startedAt: moved(stored.startedAt),
    attemptStartedAt,
    suspectSince: moved(stored.suspectSince),
    retryNowAt: moved(stored.retryNowAt),
    end: endOf(stored, shift),
  };
  const endedInAttempt = wasAttempting(stored);
  if (attemptStartedAt === null || (!endedInAttempt && !wasRefreshing(stored))) {
    const nextAttemptAt = bounded(moved(stored.nextAttemptAt), policy, now);
    return { ...stored, ...instants, nextAttemptAt, wasInterrupted: false };
  }
  // Once for each attempt: a snapshot of more failures would be refused.
  const failures = Math.min(stored.failures + 1, stored.attempts);
  const previousMs = delayOf(policy, failures, stored.previousMs);
  const nextAttemptAt = Math.min(attemptStartedAt + previousMs, LAST_INSTANT);
  const wasInterrupted = endedInAttempt && stored.history.at(-1)?.attempt !== stored.attempts;
  const transientCount = stored.transientCount + (wasInterrupted ? 1 : 0);
  return { ...stored, ...instants, failures, previousMs, nextAttemptAt, transientCount, wasInterrupted };
}

/** A cancelled run goes on from where it stood: it has no end yet. */
function endOf({ state, observedAt, endedAt, outcome }: RetrySnapshot, shift: number): RunEnd | undefined {
  if (state !== "succeeded" && state !== "failed") return undefined;
  const at = Math.max((endedAt ?? observedAt) + shift, 0);
  return { at, outcome: state === "failed" ? (outcome ?? "permanent") : undefined, reason: undefined };
}

function wasAttempting({ state, nextAttemptAt }: RetrySnapshot): boolean {
  return (state === "attempting" || state === "cancelled") && nextAttemptAt === null;
}

/**
 * A permanent failure is followed by nothing but a refresh, and this one was not made. While it is, the next instant is
 * that of its beginning: the wait after one that was cut off is not taken for another.
 */
function wasRefreshing(stored: RetrySnapshot): boolean {
  const { state, history, refreshed, attemptStartedAt, nextAttemptAt } = stored;
  if (state !== "waiting" && state !== "cancelled") return false;
  return history.at(-1)?.verdict === "permanent" && !refreshed && nextAttemptAt === attemptStartedAt;
}

/** A stored instant further away than any wait of this retrier is no instruction to sleep for years. */
function bounded(at: number | null, { backoff, hintCapMs }: RetryPolicy, now: number): number | null {
  if (at === null) return null;
  const longest = Math.max(backoff.capMs ?? LONGEST_STORED_WAIT_MS, hintCapMs);
  return Math.min(at, now + longest, LAST_INSTANT);
}

/** For a backoff that tells no cap. */
const LONGEST_STORED_WAIT_MS = 86_400_000;
