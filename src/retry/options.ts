import { systemClock, type Clock, type TimerQueue } from "../clock/index.js";
import { invalid, kindOf, show } from "../errors.js";
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

/** Checks and completes the options. @throws SlipwayError `INVALID_OPTION`, `INVALID_STATE` for `restore`. */
export function resolveOptions(options: BootstrapRetrierOptions): ResolvedOptions {
  checked("options", options, isFields, "an object");
  const resolved = Object.create(DEFAULTS) as Writable<ResolvedOptions>;
  const { backoff, deadline, signal, suspect, clock, timers, restore } = options;
  if (backoff !== undefined)
    resolved.backoff = checked(
      "backoff",
      backoff,
      isBackoff,
      "a backoff, whose capMs is a number if it has one",
    );
  if (deadline !== undefined)
    resolved.deadline = checked("deadline", deadline, isDeadline, "an object with remainingMs() and signal");
  if (signal !== undefined) resolved.signal = checked("signal", signal, isSignal, "an AbortSignal");
  for (const [field, least] of NUMBERS) {
    const value = options[field];
    if (value !== undefined) resolved[field] = whole(field, value, least);
  }
  const { attempts, forMs } = checked(
    "suspect",
    suspect === undefined ? NO_BUDGET : suspect,
    isFields,
    "an object",
  );
  if (attempts !== undefined) resolved.suspectAttempts = whole("suspect.attempts", attempts, 1);
  if (forMs !== undefined) resolved.suspectForMs = whole("suspect.forMs", forMs, 0);
  for (const field of FUNCTIONS) {
    const value: unknown = options[field];
    if (value === undefined) continue;
    if (typeof value !== "function") throw wrong(field, "a function", value);
    (resolved as Record<string, unknown>)[field] = value;
  }
  if (clock !== undefined) resolved.clock = checked("clock", clock, isClock, "a Clock");
  if (timers !== undefined) resolved.timers = checked("timers", timers, isQueue, "a TimerQueue");
  if (restore !== undefined) {
    if (!isFields(restore))
      throw invalid("INVALID_STATE", "retry options", "restore", "a snapshot", restore, kindOf(restore));
    resolved.restore = decodeRetrySnapshot(restore);
  }
  return resolved;
}

/** Options with the least value that each may have. */
const NUMBERS = [
  ["maxAttempts", 1],
  ["attemptTimeoutMs", 1],
  ["hintCapMs", 0],
  ["retryNowSpacingMs", 1],
  ["historyLimit", 2],
] as const;

const NO_BUDGET: SuspectBudget = {};

const FUNCTIONS = ["classify", "refresh", "onLateResult", "onHookError", "random"] as const;

function checked<T>(field: string, value: T, is: (value: unknown) => boolean, expected: string): T {
  if (is(value)) return value;
  throw wrong(field, expected, value);
}

function isBackoff(value: unknown): boolean {
  const capMs = read(value, "capMs");
  return hasFunctions(value, "delayMs") && (capMs === undefined || (typeof capMs === "number" && capMs >= 0));
}

function isClock(value: unknown): boolean {
  return hasFunctions(value, "now", "schedule");
}

function isQueue(value: unknown): boolean {
  return hasFunctions(value, "scheduleFor");
}

function isDeadline(value: unknown): boolean {
  return hasFunctions(value, "remainingMs") && isSignal(read(value, "signal"));
}

function isSignal(value: unknown): boolean {
  return (
    typeof read(value, "aborted") === "boolean" &&
    hasFunctions(value, "addEventListener", "removeEventListener")
  );
}

export function hasFunctions(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => typeof read(value, name) === "function");
}

function whole(field: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw wrong(field, `a safe integer, ${least} or more`, value, show(value));
}

function wrong(field: string, expected: string, value: unknown, shown = kindOf(value)): Error {
  return invalid("INVALID_OPTION", "retry options", field, expected, value, shown);
}
