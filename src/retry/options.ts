import { systemClock, type Clock, type TimerQueue } from "../clock/index.js";
import { sharedTimers } from "../clock/shared-timers.js";
import { invalid } from "../errors.js";
import { exponentialBackoff, type Backoff } from "./backoff.js";
import type { RetryPolicy } from "./progress.js";
import { hostRandom, type Random } from "./random.js";
import { decodeRetrySnapshot, type RetrySnapshot } from "./snapshot.js";
import type { Classifier } from "./verdict.js";

/**
 * What bounds a bootstrap: a `PhasedDeadline`, or anything that tells its remaining time and aborts at its end.
 *
 * @public
 */
export interface RetryDeadline {
  /** Milliseconds to the deadline; `Infinity` when it is unlimited, 0 or less once it passed. */
  remainingMs(): number;
  /** Aborts when the deadline passes or is cancelled. */
  readonly signal: AbortSignal;
}

/** How long failures that may be permanent are tried again. Both limits have to be reached. */
export interface SuspectBudget {
  /** Suspect failures in a row. A positive integer. Default 3. */
  readonly attempts?: number | undefined;
  /** Milliseconds since the first of them. Default 60 000. */
  readonly forMs?: number | undefined;
}

/**
 * How a {@link BootstrapRetrier} behaves. Every field is optional.
 *
 * @public
 */
export interface BootstrapRetrierOptions {
  /** Default: full jitter from 1 s, doubling, up to 30 s. */
  readonly backoff?: Backoff | undefined;
  /** Attempts in all, the first included. Default: no limit but the deadline. */
  readonly maxAttempts?: number | undefined;
  /** Longest time for one attempt, milliseconds. Default 10 000. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Bounds the whole run, waits included. */
  readonly deadline?: RetryDeadline | undefined;
  /** Cancels the run; its reason is what the run rejects with, by identity. */
  readonly signal?: AbortSignal | undefined;
  /** Asked before the default rules. */
  readonly classify?: Classifier | undefined;
  readonly suspect?: SuspectBudget | undefined;
  /** Longest wait that a peer may ask for, milliseconds. Default 300 000. */
  readonly hintCapMs?: number | undefined;
  /** Shortest time between two waits that `retryNow` ends, milliseconds. Default 1000. */
  readonly retryNowSpacingMs?: number | undefined;
  /**
   * Gets new credentials after an authentication failure: once per run, within `attemptTimeoutMs`. When it rejects,
   * the failure is permanent.
   */
  readonly refresh?: ((context: RefreshContext) => unknown) | undefined;
  /** Takes a value that an attempt gave after it was given up: close it, or it leaks. */
  readonly onLateResult?: ((value: unknown) => unknown) | undefined;
  /** Told what a hook, a listener or a classifier threw. Default: ignored; a run never ends by it. */
  readonly onHookError?: ((error: unknown) => void) | undefined;
  /** Failures that are kept, the first and the last among them. At least 2. Default 20. */
  readonly historyLimit?: number | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Default: one queue for everything on the same clock. */
  readonly timers?: TimerQueue | undefined;
  /** Source of jitter. Default: the host's. */
  readonly random?: Random | undefined;
  /** Goes on where another process stopped; as {@link BootstrapRetrier.snapshot} gave it. */
  readonly restore?: RetrySnapshot | undefined;
}

/** What `refresh` gets. */
export interface RefreshContext {
  readonly signal: AbortSignal;
  /** What the attempt failed with. */
  readonly error: unknown;
}

export interface ResolvedOptions extends RetryPolicy {
  readonly attemptTimeoutMs: number;
  readonly deadline: RetryDeadline | undefined;
  readonly signal: AbortSignal | undefined;
  readonly classify: Classifier | undefined;
  readonly retryNowSpacingMs: number;
  readonly refresh: ((context: RefreshContext) => unknown) | undefined;
  readonly onLateResult: ((value: unknown) => unknown) | undefined;
  readonly onHookError: ((error: unknown) => void) | undefined;
  readonly historyLimit: number;
  readonly clock: Clock;
  readonly timers: TimerQueue;
  readonly restore: RetrySnapshot | undefined;
}

const DEFAULT_BACKOFF = exponentialBackoff();

/** Checks and completes the options. @throws SlipwayError `INVALID_OPTION`, `INVALID_STATE` for `restore`. */
export function resolveOptions(options: BootstrapRetrierOptions): ResolvedOptions {
  const clock = options.clock ?? systemClock;
  const { backoff = DEFAULT_BACKOFF, deadline, signal, restore } = options;
  if (typeof backoff.delayMs !== "function") throw wrong("backoff", "a backoff", backoff);
  if (deadline !== undefined && (typeof deadline.remainingMs !== "function" || !isSignal(deadline.signal)))
    throw wrong("deadline", "an object with remainingMs() and signal", deadline);
  if (signal !== undefined && !isSignal(signal)) throw wrong("signal", "an AbortSignal", signal);
  requireFunctions(options);
  return {
    backoff,
    random: options.random ?? hostRandom,
    maxAttempts:
      options.maxAttempts === undefined
        ? Number.POSITIVE_INFINITY
        : whole("maxAttempts", options.maxAttempts, 1),
    hintCapMs: whole("hintCapMs", options.hintCapMs ?? 300_000, 0),
    suspectAttempts: whole("suspect.attempts", options.suspect?.attempts ?? 3, 1),
    suspectForMs: whole("suspect.forMs", options.suspect?.forMs ?? 60_000, 0),
    attemptTimeoutMs: whole("attemptTimeoutMs", options.attemptTimeoutMs ?? 10_000, 1),
    deadline,
    signal,
    classify: options.classify,
    retryNowSpacingMs: whole("retryNowSpacingMs", options.retryNowSpacingMs ?? 1000, 1),
    refresh: options.refresh,
    onLateResult: options.onLateResult,
    onHookError: options.onHookError,
    historyLimit: whole("historyLimit", options.historyLimit ?? 20, 2),
    clock,
    timers: options.timers ?? sharedTimers(clock),
    restore: restore === undefined ? undefined : decodeRetrySnapshot(restore),
  };
}

const FUNCTIONS = ["classify", "refresh", "onLateResult", "onHookError", "random"] as const;

function requireFunctions(options: BootstrapRetrierOptions): void {
  for (const field of FUNCTIONS) {
    const value: unknown = options[field];
    if (value !== undefined && typeof value !== "function") throw wrong(field, "a function", value);
  }
}

function isSignal(value: unknown): value is AbortSignal {
  return typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;
}

function whole(field: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw wrong(field, `a safe integer, ${least} or more`, value);
}

function wrong(field: string, expected: string, value: unknown): Error {
  return invalid("INVALID_OPTION", "retry options", field, expected, value);
}
