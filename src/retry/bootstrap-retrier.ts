import type { Condition } from "../conditions/index.js";
import { SlipwayError } from "../errors.js";
import type { AttemptContext } from "./attempt.js";
import {
  operationFault,
  resolveOptions,
  withOptions,
  type BootstrapRetrierOptions,
  type ResolvedOptions,
} from "./options.js";
import { rejectedWith } from "./rejection.js";
import { Run } from "./run.js";
import { RunEvents, type RetrierEvents } from "./run-events.js";
import { storedFailure } from "./attempt-failure.js";
import { RunRecord } from "./run-record.js";
import type { RetrySnapshot } from "./snapshot.js";
import { conditionOf, statusOf, type RetryStatus } from "./status.js";

/**
 * Something that may fail for a while. Called once per attempt; may answer with a value or a promise.
 *
 * @public
 */
export type BootstrapOperation<T> = (context: AttemptContext) => T | PromiseLike<T>;

/**
 * Repeats an operation until it succeeds, fails for good, is cancelled, or meets its deadline.
 *
 * Contract: an aborted `signal` or deadline ends the run within one macrotask, whatever the operation does; the run
 * then rejects with the caller's own reason, or with {@link BootstrapDeadlineError}. After it settled no timer and no
 * listener is left. One run at a time; a further `run` after the end starts anew.
 *
 * @example
 * ```ts
 * import { BootstrapRetrier } from "slipway/retry";
 *
 * const retrier = new BootstrapRetrier({ maxAttempts: 3 });
 * retrier.on("waiting", () => console.log(retrier.status().sentence));
 * const policy = await retrier.run(async ({ attempt }) => ({ attempt, rules: [] }));
 * [policy.attempt, retrier.status().state]; // => [1, "succeeded"]
 * ```
 *
 * @public
 */
export class BootstrapRetrier {
  #record: RunRecord;
  #run: Run<unknown> | undefined;
  #isInParts = false;

  /**
   * @throws {@link SlipwayError} `INVALID_OPTION` naming the field; `INVALID_STATE` for a snapshot that contradicts
   * itself.
   */
  constructor(options: BootstrapRetrierOptions = {}) {
    const resolved = resolveOptions(options);
    this.#record = new RunRecord(resolved, resolved.restore);
  }

  /**
   * Runs the operation to its end. The first attempt is made before this returns.
   *
   * Rejects with {@link BootstrapPermanentError}, {@link BootstrapDeadlineError}, {@link BootstrapExhaustedError}, or
   * the reason of `signal`; with {@link SlipwayError} `INVALID_STATE` while another run is under way, or after the
   * restored one was already over.
   */
  run<T>(operation: BootstrapOperation<T>): Promise<T> {
    const fault = operationFault(operation);
    if (fault !== undefined) return rejectedWith(fault);
    if (this.#record.beside !== undefined) this.#record.beside = undefined;
    if (this.#run !== undefined) {
      if (!this.#run.isOver)
        return rejectedWith(
          new SlipwayError("INVALID_STATE", "A run is under way: one at a time", { field: "state" }),
        );
      this.#renew();
    }
    if (this.#isInParts) this.#record.isPart = true;
    const run = new Run<T>(this.#record, operation, true);
    this.#run = run;
    const attempt = run.open();
    if (attempt === undefined) return run.goOnWithout();
    let result: unknown;
    try {
      result = operation(attempt);
    } catch (error) {
      return run.failedAtOnce(attempt, error);
    }
    return run.returned(attempt, result);
  }

  /**
   * The gateway is back: ends the wait now, or as soon as `retryNowSpacingMs` after the last time allows. Never
   * lengthens a wait. During an attempt it is kept for the wait that would follow.
   *
   * @returns Whether the next attempt comes sooner, or may.
   */
  retryNow(): boolean {
    return this.#run?.retryNow() ?? false;
  }

  /** Where the run stands. Cheap, without side effects, at any time. */
  status(): RetryStatus {
    return statusOf(this.#record.beside ?? this.#record);
  }

  /**
   * The run as a condition, for the status of a sandbox.
   *
   * @param type - Default `Bootstrapped`.
   */
  toCondition(type = "Bootstrapped"): Condition {
    return conditionOf(this.#record.beside ?? this.#record, type);
  }

  /** The run as plain JSON: given as `restore`, another process goes on where this one stopped. */
  snapshot(): RetrySnapshot {
    const record = this.#record;
    const { end } = record;
    return {
      schemaVersion: 1,
      state: record.state === "refreshing" ? "waiting" : record.state,
      observedAt: record.now(),
      startedAt: record.startedAt,
      attemptStartedAt: record.attemptStartedAt,
      nextAttemptAt: record.nextAttemptAt,
      retryNowAt: record.retryNowAt,
      attempts: record.attempts,
      failures: record.failures,
      previousMs: record.previousMs,
      suspects: record.suspects,
      suspectSince: record.suspectSince,
      refreshed: record.refreshed,
      transientCount: record.transientCount,
      permanentCount: record.permanentCount,
      suspectCount: record.suspectCount,
      cancelledCount: record.cancelledCount,
      history: record.history.map(storedFailure),
      ...(end === undefined ? undefined : { endedAt: end.at }),
      ...(end?.outcome === undefined ? undefined : { outcome: end.outcome }),
    };
  }

  /** Listens. What a listener throws goes to `onHookError` and hurts nobody. */
  on<Name extends keyof RetrierEvents>(name: Name, listener: (value: RetrierEvents[Name]) => void): this {
    this.#listeners().on(name, listener);
    return this;
  }

  /** Listens for the next one only. */
  once<Name extends keyof RetrierEvents>(name: Name, listener: (value: RetrierEvents[Name]) => void): this {
    this.#listeners().once(name, listener);
    return this;
  }

  /** Stops listening. */
  off<Name extends keyof RetrierEvents>(name: Name, listener: (value: RetrierEvents[Name]) => void): this {
    this.#events?.off(name, listener);
    return this;
  }

  /** @internal */
  get options(): ResolvedOptions {
    return this.#record.options;
  }

  /**
   * Runs that are parts of one bootstrap: `settled`, status and condition tell of a success when `finish` says that
   * all of it succeeded, and until then a snapshot is one that can be gone on with.
   *
   * @internal
   */
  async inParts<T>(bootstrap: (finish: () => void) => Promise<T>): Promise<T> {
    // Earlier releases stored the success of a part as that of a run.
    if (this.#run === undefined && this.#record.state === "succeeded") this.#renew();
    this.#isInParts = true;
    try {
      return await bootstrap(() => this.#finish());
    } finally {
      this.#isInParts = false;
    }
  }

  #finish(): void {
    const record = this.#record;
    record.begin();
    record.settle("succeeded", undefined);
    record.events?.settled(record);
  }

  #renew(): void {
    const { events } = this.#record;
    this.#record = new RunRecord(this.options);
    if (events !== undefined) this.#record.events = events;
  }

  /**
   * Work beside the run, within the same limits: starts anew and restores nothing. Until it succeeds `status` and the
   * events tell of it, so that a sequence that waits for its ledger does not look idle.
   *
   * @internal
   */
  async runBeside<T>(operation: BootstrapOperation<T>, changes: Partial<ResolvedOptions> = {}): Promise<T> {
    const record = new RunRecord(withOptions(this.options, { restore: undefined, ...changes }));
    const own = this.#record;
    record.events = own.events;
    record.isPart = true;
    own.beside = record;
    const run = new Run<T>(record, operation, true);
    const attempt = run.open();
    const value = await (attempt === undefined
      ? run.goOnWithout()
      : run.returned(attempt, settledBy(operation, attempt)));
    if (own.beside === record) own.beside = undefined;
    return value;
  }

  #listeners(): RunEvents {
    const { options, beside } = this.#record;
    const events = this.#events ?? new RunEvents(options.onHookError);
    this.#record.events = events;
    if (beside !== undefined) beside.events = events;
    return events;
  }

  /** Kept by the record, and handed on to the next one. */
  get #events(): RunEvents | undefined {
    return this.#record.events as RunEvents | undefined;
  }
}

/**
 * Runs an operation under a {@link BootstrapRetrier} of its own.
 *
 * @example
 * ```ts
 * import { retryBootstrap } from "slipway/retry";
 *
 * const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
 * let calls = 0;
 * const value = await retryBootstrap(() => {
 *   calls += 1;
 *   if (calls === 1) throw refused;
 *   return "policy";
 * });
 * [value, calls]; // => ["policy", 2]
 * ```
 *
 * @public
 */
export function retryBootstrap<T>(
  operation: BootstrapOperation<T>,
  options: BootstrapRetrierOptions = {},
): Promise<T> {
  const resolved = resolveOptions(options);
  const fault = operationFault(operation);
  if (fault !== undefined) return rejectedWith(fault);
  const run = new Run<T>(new RunRecord(resolved, resolved.restore), operation, false);
  const attempt = run.open();
  if (attempt === undefined) return run.goOnWithout();
  let result: unknown;
  try {
    result = operation(attempt);
  } catch (error) {
    return run.failedAtOnce(attempt, error);
  }
  return run.returned(attempt, result);
}

/** The outcome of a call, also where it throws. */
async function settledBy<T>(operation: BootstrapOperation<T>, attempt: AttemptContext): Promise<T> {
  return operation(attempt);
}
