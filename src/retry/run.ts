import { execute } from "abort-controller-x";
import pRetry, { AbortError } from "p-retry";
import type { Alarm } from "../clock/index.js";
import { sharedTimers } from "../clock/shared-timers.js";
import { SlipwayError } from "../errors.js";
import { Attempt, callHook, type AttemptContext } from "./attempt.js";
import { deadlineEnd, exhaustedEnd, permanentEnd } from "./endings.js";
import { Interruption, type InterruptedBy } from "./interruption.js";
import { judge } from "./judge.js";
import type { RetryDecision } from "./progress.js";
import { rejectedWith } from "./rejection.js";
import type { RetryState } from "./snapshot.js";
import type { RunRecord } from "./run-record.js";

/** All that the loop hears of a failure that it has to go on after: what was thrown is none of its business. */
const FAILED = new Error("The attempt failed");
const failed = (): Promise<never> => Promise.reject(FAILED);
const always = (): boolean => true;

/**
 * One run: attempts, waits, and what ends them.
 *
 * p-retry turns the loop, and nothing else: the waiting is done in its hook on Slipway's clock, and every decision is
 * made before it hears of a failure.
 */
export class Run<T> extends Interruption {
  readonly #record: RunRecord;
  readonly #operation: (context: AttemptContext) => T | PromiseLike<T>;
  #alarm: Alarm | undefined;
  #current: Attempt | undefined;
  /** Boxed, because a caller's reason may be anything. */
  #ending: { readonly reason: unknown } | undefined;
  /** Ends the wait that is under way. */
  #wake: ((value: undefined) => void) | undefined;
  /** The authentication failure that a refresh has to answer before the next wait. Boxed likewise. */
  #refreshFor: { readonly error: unknown } | undefined;
  #retryNowAsked = false;
  #isLooping = false;

  constructor(record: RunRecord, operation: (context: AttemptContext) => T | PromiseLike<T>) {
    super();
    this.#record = record;
    this.#operation = operation;
  }

  start(): Promise<T> {
    const record = this.#record;
    const { signal, deadline } = record.options;
    const now = record.begin();
    if (isOver(record.state)) return rejectedWith(restoredOver(record.state));
    if (signal?.aborted === true) this.interrupt("caller");
    else if (this.#isOverdue()) this.interrupt("deadline");
    else if (record.isExhausted()) this.#end("failed", exhaustedEnd(record));
    else {
      this.watch(signal, deadline?.signal);
      if (!record.isDue(now)) this.#resume();
      else if (this.#mayAttempt(now))
        return this.#call<T>(this.#operation)?.catch(() => this.#loop()) ?? this.#loop();
    }
    return this.#loop();
  }

  retryNow(): boolean {
    const record = this.#record;
    if (record.state === "attempting") {
      // The news may be younger than the attempt: if that fails, the wait after it is cut short.
      this.#retryNowAsked = true;
      return true;
    }
    if (!record.retryNow()) return false;
    const now = record.now();
    // A wait that began in this very instant ends on a timer, so that a macrotask lies between two attempts.
    if (record.isDue(now) && now > (record.last?.endedAt ?? 0)) this.#endWait();
    else if (this.#wake !== undefined) this.#setAlarm(record.nextAttemptAt ?? now);
    return true;
  }

  remainingMs(): number {
    return this.#record.remainingMs();
  }

  get reason(): unknown {
    return this.#ending?.reason;
  }

  /** Waits out what another process began to wait. */
  #resume(): void {
    const record = this.#record;
    record.wait();
    const waitMs = record.waitLeftMs();
    if (waitMs >= this.remainingMs()) this.#end("failed", deadlineEnd(record, { waitMs }));
    else record.events?.waiting(record);
  }

  /** From the first failure on. The loop's own first turn stands for the attempt that was made without it. */
  #loop(): Promise<T> {
    if (this.#ending !== undefined) return rejectedWith(this.#ending.reason);
    // Every option, though most of them at values that do nothing: p-retry would add the others to each run's copy, with
    // functions made anew, and the host would keep a shape for every run, which is half a kilobyte.
    return pRetry(() => this.#turn(), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 0,
      onFailedAttempt: () => this.#pause(),
      factor: 1,
      maxTimeout: Number.POSITIVE_INFINITY,
      maxRetryTime: Number.POSITIVE_INFINITY,
      randomize: false,
      shouldRetry: always,
      shouldConsumeRetry: always,
    });
  }

  #turn(): Promise<T> {
    if (!this.#isLooping) {
      this.#isLooping = true;
      return failed();
    }
    const attempt = this.#mayAttempt(this.#record.now()) ? this.#call<T>(this.#operation) : undefined;
    return attempt ?? Promise.reject(this.#forLoop());
  }

  /** What is permanent ends the loop before its hook; what a caller gave as a reason leaves by the hook, unwrapped. */
  #forLoop(): Error {
    const reason = this.#ending?.reason;
    return this.#record.state === "failed" && reason instanceof Error ? new AbortError(reason) : FAILED;
  }

  #pause(): Promise<void> {
    if (this.#ending !== undefined) return rejectedWith(this.#ending.reason);
    return this.#refreshFor === undefined ? this.#wait() : this.#refresh(this.#refreshFor.error);
  }

  #wait(): Promise<void> {
    return execute<undefined>(this.asSignal(), (resolve) => {
      this.#wake = resolve;
      this.#setAlarm(this.#record.nextAttemptAt ?? this.#record.now());
      return rejectedWith;
    });
  }

  #endWait(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(undefined);
  }

  /** Begins an attempt, unless the run is over by now. */
  #mayAttempt(now: number): boolean {
    const record = this.#record;
    if (this.#isOverdue()) this.interrupt("deadline");
    if (this.#ending !== undefined) return false;
    record.startAttempt(now);
    record.events?.attemptStarted(record);
    return this.#isOpen();
  }

  /** Runs the embedder's `refresh` as an attempt of its own kind: bounded, abortable, and never repeated. */
  async #refresh(error: unknown): Promise<void> {
    this.#refreshFor = undefined;
    const { refresh } = this.#record.options;
    await this.#call<unknown>(({ signal }) => refresh?.({ signal, error }))?.catch(always);
    if (this.#ending !== undefined) throw this.#ending.reason;
    await this.#wait();
  }

  /** `undefined` when it failed, or the run ended, before there was anything to wait for. */
  #call<V>(work: (context: AttemptContext) => unknown): Promise<V> | undefined {
    const attempt = new Attempt(this.#record.progress.attempts, this);
    this.#current = attempt;
    let result: unknown;
    try {
      result = work(attempt);
      if (typeof result !== "object" && typeof result !== "function") return this.#now(attempt, result as V);
      Promise.resolve(result).then(
        (value) => this.#gave(attempt, value),
        (error: unknown) => this.#threw(attempt, error),
      );
    } catch (error) {
      this.#threw(attempt, error);
      return undefined;
    }
    if (this.#current !== attempt) return undefined;
    this.#armAttempt();
    return execute<V>(this.asSignal(), (resolve, reject) => {
      attempt.resolve = resolve as (value: unknown) => void;
      attempt.reject = reject;
      return failed;
    });
  }

  /** A plain value is there already: neither a timer nor a race is needed for it. */
  #now<V>(attempt: Attempt, value: V): Promise<V> | undefined {
    const isLate = this.#current !== attempt;
    this.#gave(attempt, value);
    return isLate ? undefined : Promise.resolve(value);
  }

  #gave(attempt: Attempt, value: unknown): void {
    const { onLateResult, onHookError } = this.#record.options;
    if (this.#current !== attempt) {
      callHook(onLateResult, value, onHookError);
      return;
    }
    this.#current = undefined;
    if (this.#record.refreshing) this.#beginWait();
    else this.#succeed();
    attempt.resolve?.(value);
  }

  #threw(attempt: Attempt, error: unknown, timedOut = false): void {
    if (this.#current !== attempt) return;
    this.#current = undefined;
    if (timedOut) attempt.giveUp(error);
    if (this.#isOpen()) this.#fail(error, timedOut);
    attempt.reject?.(this.#forLoop());
  }

  #armAttempt(): void {
    const now = this.#record.now();
    const remaining = Math.max(Math.ceil(this.remainingMs()), 1);
    this.#setAlarm(Math.min(this.#record.attemptEndsAt(), now + remaining));
  }

  #setAlarm(at: number): void {
    if (this.#alarm !== undefined) {
      this.#alarm.set(at);
      return;
    }
    const { timers, clock } = this.#record.options;
    this.#alarm = (timers ?? sharedTimers(clock)).schedule(at, () => this.#ring());
  }

  #ring(): void {
    const attempt = this.#current;
    if (attempt === undefined) this.#endWait();
    else if (this.remainingMs() <= 0) this.interrupt("deadline");
    else if (this.#record.now() < this.#record.attemptEndsAt()) this.#armAttempt();
    else
      this.#threw(
        attempt,
        new DOMException("The attempt took longer than one attempt may", "TimeoutError"),
        true,
      );
  }

  #fail(error: unknown, timedOut: boolean): void {
    const record = this.#record;
    const { options } = record;
    if (record.refreshing) {
      this.#end("failed", permanentEnd(record, error));
      return;
    }
    try {
      const now = record.now();
      const classification = judge(error, { signal: options.signal, timedOut, now }, options);
      const decision = record.fail(error, classification, now);
      record.events?.attemptFailed(record);
      // A listener may have aborted the run.
      if (this.#isOpen()) this.#follow(decision, error);
    } catch (mistake) {
      // A backoff of the embedder's own threw: a mistake, which no attempt mends.
      this.#end("failed", mistake);
    }
  }

  #follow(decision: RetryDecision, error: unknown): void {
    const record = this.#record;
    if (decision.next === "refresh") {
      this.#refreshFor = { error };
      record.startRefresh(record.now());
    } else if (decision.next === "wait") {
      this.#beginWait();
    } else {
      this.#stop(decision, error);
    }
  }

  #beginWait(): void {
    const record = this.#record;
    record.wait();
    if (this.#retryNowAsked) record.retryNow();
    this.#retryNowAsked = false;
    record.events?.waiting(record);
  }

  #stop(decision: RetryDecision, error: unknown): void {
    const record = this.#record;
    const { signal } = record.options;
    if (decision.stoppedBy === "permanent") this.#end("failed", permanentEnd(record));
    else if (decision.stoppedBy === "exhausted") this.#end("failed", exhaustedEnd(record));
    else if (decision.stoppedBy === "deadline") this.#end("failed", deadlineEnd(record, decision));
    else this.#end("cancelled", signal?.aborted === true ? signal.reason : error);
  }

  protected override interrupted(by: InterruptedBy): void {
    const { signal, deadline } = this.#record.options;
    const attempt = this.#current;
    this.#current = undefined;
    if (attempt !== undefined) this.#record.cutOff(by);
    const ending: unknown = by === "caller" ? signal?.reason : deadlineEnd(this.#record);
    this.#end(by === "caller" ? "cancelled" : "failed", ending);
    attempt?.giveUp(by === "deadline" && deadline?.signal.aborted === true ? deadline.signal.reason : ending);
  }

  #succeed(): void {
    this.#ending = { reason: undefined };
    this.#settle("succeeded", undefined);
  }

  #end(state: "failed" | "cancelled", reason: unknown): void {
    if (this.#ending !== undefined) return;
    this.#ending = { reason };
    this.#settle(state, reason);
  }

  #settle(state: "succeeded" | "failed" | "cancelled", reason: unknown): void {
    const { signal, deadline } = this.#record.options;
    this.#alarm?.[Symbol.dispose]();
    this.#wake = undefined;
    this.unwatch(signal, deadline?.signal);
    this.#record.settle(state, reason);
    this.#record.events?.settled(this.#record);
  }

  #isOverdue(): boolean {
    return this.#record.options.deadline?.signal.aborted === true || this.remainingMs() <= 0;
  }

  #isOpen(): boolean {
    return this.#ending === undefined;
  }
}

function isOver(state: RetryState): boolean {
  return state === "succeeded" || state === "failed";
}

function restoredOver(state: RetryState): SlipwayError {
  const message = `The restored run has ${state}: a new one is a new retrier`;
  return new SlipwayError("INVALID_STATE", message, { field: "restore.state", value: state });
}
