import { systemClock, type Clock, type TimerQueue } from "../clock/index.js";
import { hasMethod, invalid, kindOf, show } from "../errors.js";
import { exponentialBackoff, type Backoff } from "./backoff.js";
import { isFields, read } from "./classify/inspect.js";
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
  /** How long failures that may be permanent are tried again. Default: 3 attempts over 60 000 ms. */
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
  /** Told what a hook, a listener or a classifier threw. Default: `console.error`; a run never ends by it. */
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
  /** Aborts when the run is cancelled, its deadline passes or the refresh takes too long. */
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
  /** Absent: the queue that everything on `clock` shares. */
  readonly timers: TimerQueue | undefined;
  readonly restore: RetrySnapshot | undefined;
}

/** What holds where an option is absent: the prototype of every set of options, so that a set costs what it says. */
const DEFAULTS: ResolvedOptions = {
  backoff: exponentialBackoff(),
  random: hostRandom,
  maxAttempts: Number.POSITIVE_INFINITY,
  hintCapMs: 300_000,
  suspectAttempts: 3,
  suspectForMs: 60_000,
  attemptTimeoutMs: 10_000,
  deadline: undefined,
  signal: undefined,
  classify: undefined,
  retryNowSpacingMs: 1000,
  refresh: undefined,
  onLateResult: undefined,
  onHookError: undefined,
  historyLimit: 20,
  clock: systemClock,
  timers: undefined,
  restore: undefined,
};

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Other options, where the ones named here differ. */
export function withOptions(base: ResolvedOptions, changes: Partial<ResolvedOptions>): ResolvedOptions {
  return Object.assign(Object.create(base) as ResolvedOptions, changes);
}

/**
 * Checks and completes the options. Each is looked at by its name: a loop over names, which the host cannot see through,
 * took a third of a first try.
 *
 * @throws SlipwayError `INVALID_OPTION`, `INVALID_STATE` for `restore`.
 */
export function resolveOptions(options: BootstrapRetrierOptions): ResolvedOptions {
  if (!isFields(options)) throw wrong("options", "an object", options);
  const resolved = Object.create(DEFAULTS) as Writable<ResolvedOptions>;
  const { backoff, deadline, signal } = options;
  if (backoff !== undefined) {
    if (!isBackoff(backoff))
      throw wrong("backoff", "a backoff, whose capMs is a number if it has one", backoff);
    resolved.backoff = backoff;
  }
  if (deadline !== undefined) {
    if (!isDeadline(deadline)) throw wrong("deadline", "an object with remainingMs() and signal", deadline);
    resolved.deadline = deadline;
  }
  if (signal !== undefined) {
    if (!isSignal(signal)) throw wrong("signal", "an AbortSignal", signal);
    resolved.signal = signal;
  }
  resolveNumbers(options, resolved);
  resolveFunctions(options, resolved);
  resolveTime(options, resolved);
  return resolved;
}

function resolveNumbers(options: BootstrapRetrierOptions, resolved: Writable<ResolvedOptions>): void {
  const { maxAttempts, attemptTimeoutMs, hintCapMs, retryNowSpacingMs, historyLimit, suspect } = options;
  if (maxAttempts !== undefined) resolved.maxAttempts = whole("maxAttempts", maxAttempts, 1);
  if (attemptTimeoutMs !== undefined)
    resolved.attemptTimeoutMs = whole("attemptTimeoutMs", attemptTimeoutMs, 1);
  if (hintCapMs !== undefined) resolved.hintCapMs = whole("hintCapMs", hintCapMs, 0);
  if (retryNowSpacingMs !== undefined)
    resolved.retryNowSpacingMs = whole("retryNowSpacingMs", retryNowSpacingMs, 1);
  if (historyLimit !== undefined) resolved.historyLimit = whole("historyLimit", historyLimit, 2);
  if (suspect === undefined) return;
  if (!isFields(suspect)) throw wrong("suspect", "an object", suspect);
  const { attempts, forMs } = suspect;
  if (attempts !== undefined) resolved.suspectAttempts = whole("suspect.attempts", attempts, 1);
  if (forMs !== undefined) resolved.suspectForMs = whole("suspect.forMs", forMs, 0);
}

function resolveFunctions(options: BootstrapRetrierOptions, resolved: Writable<ResolvedOptions>): void {
  const { classify, refresh, onLateResult, onHookError, random } = options;
  if (classify !== undefined) resolved.classify = callable("classify", classify);
  if (refresh !== undefined) resolved.refresh = callable("refresh", refresh);
  if (onLateResult !== undefined) resolved.onLateResult = callable("onLateResult", onLateResult);
  if (onHookError !== undefined) resolved.onHookError = callable("onHookError", onHookError);
  if (random !== undefined) resolved.random = callable("random", random);
}

/** The clock, and what was stored of another process's run. */
function resolveTime(options: BootstrapRetrierOptions, resolved: Writable<ResolvedOptions>): void {
  const { clock, timers, restore } = options;
  if (clock !== undefined) {
    if (!isClock(clock)) throw wrong("clock", "a Clock with now() and schedule()", clock);
    resolved.clock = clock;
  }
  if (timers !== undefined) {
    if (!isQueue(timers)) throw wrong("timers", "a TimerQueue", timers);
    resolved.timers = timers;
  }
  if (restore !== undefined) {
    if (!isFields(restore))
      throw invalid("INVALID_STATE", "retry options", "restore", "a snapshot", restore, kindOf(restore));
    resolved.restore = decodeRetrySnapshot(restore);
  }
}

/** Named here and not passed to {@link read}: a retry of one call makes a set of options, and asks this for each. */
function isBackoff(value: unknown): boolean {
  if (!isFields(value)) return false;
  try {
    const { delayMs, capMs } = value as Readonly<Record<string, unknown>>;
    return (
      typeof delayMs === "function" && (capMs === undefined || (typeof capMs === "number" && capMs >= 0))
    );
  } catch {
    // A getter that throws would do so again in the middle of a run.
    return false;
  }
}

/** What is wrong with an operation that cannot be called; `undefined` for one that can. */
export function operationFault(operation: unknown): Error | undefined {
  return typeof operation === "function" ? undefined : wrong("operation", "a function", operation);
}

function isClock(value: unknown): boolean {
  return hasMethod(value, "now") && hasMethod(value, "schedule");
}

function isQueue(value: unknown): boolean {
  return hasMethod(value, "scheduleFor");
}

function isDeadline(value: unknown): boolean {
  return hasMethod(value, "remainingMs") && isSignal(read(value, "signal"));
}

function isSignal(value: unknown): boolean {
  return (
    typeof read(value, "aborted") === "boolean" &&
    hasMethod(value, "addEventListener") &&
    hasMethod(value, "removeEventListener")
  );
}

function callable<Hook>(field: string, value: Hook): Hook {
  if (typeof value === "function") return value;
  throw wrong(field, "a function", value);
}

function whole(field: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw wrong(field, `a safe integer, ${least} or more`, value, show(value));
}

function wrong(field: string, expected: string, value: unknown, shown = kindOf(value)): Error {
  return invalid("INVALID_OPTION", "retry options", field, expected, value, shown);
}
