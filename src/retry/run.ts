import { execute } from "abort-controller-x";
import pRetry from "p-retry";
import type { Alarm } from "../clock/index.js";
import { Attempt, callHook, type AttemptContext, type AttemptOwner } from "./attempt.js";
import { deadlineEnd, exhaustedEnd, permanentEnd, rejectedWith } from "./endings.js";
import { FAILED, Interruption, STOP, type InterruptedBy } from "./interruption.js";
import { judge } from "./judge.js";
import type { RetryDecision } from "./progress.js";
import type { RunEvents } from "./run-events.js";
import type { RunRecord } from "./run-record.js";

/**
 * One run: attempts, waits, and what ends them.
 *
 * p-retry turns the loop, and nothing else: the waiting is done in its hook on Slipway's clock, every decision is
 * made before it hears of a failure, and what it is thrown says only "again" or "stop".
 */
export class Run<T> implements AttemptOwner {
  readonly #record: RunRecord;
  readonly #events: RunEvents;
  readonly #operation: (context: AttemptContext) => T | PromiseLike<T>;
  #interruption: Interruption | undefined;
  #alarm: Alarm | undefined;
  #current: Attempt | undefined;
  /** Boxed, because a caller's reason may be anything. */
  #ending: { readonly reason: unknown } | undefined;
  /** Ends the wait that is under way. */
  #wake: (() => void) | undefined;
  /** Ends the attempt that is under way for taking too long. */
  #timeOut: (() => void) | undefined;
  /** The authentication failure that a refresh has to answer before the next wait. Boxed likewise. */
  #refreshFor: { readonly error: unknown } | undefined;
  #retryNowAsked = false;

  constructor(
    record: RunRecord,
    events: RunEvents,
    operation: (context: AttemptContext) => T | PromiseLike<T>,
  ) {
    this.#record = record;
    this.#events = events;
    this.#operation = operation;
  }

  start(): Promise<T> {
    const record = this.#record;
    const { signal, deadline } = record.options;
    const now = record.begin();
    if (signal?.aborted === true) this.#interrupted("caller");
    else if (this.#isOverdue()) this.#interrupted("deadline");
    else if (record.isExhausted()) this.#end("failed", exhaustedEnd(record));
    if (this.#ending !== undefined) return this.#rejected();
    this.#interruption = new Interruption(signal, deadline?.signal, this.#interrupted);
    if (!record.isDue(now)) return this.#resume();
    return this.#attempt().catch(this.#loop);
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
    if (record.isDue(now) && now > record.waitingSince) this.#wake?.();
    else if (this.#wake !== undefined) this.#setAlarm(record.nextAttemptAt ?? now);
    return true;
  }

  remainingMs(): number {
    return this.#record.remainingMs();
  }

  takeLate(value: unknown): void {
    const { onLateResult, onHookError } = this.#record.options;
    callHook(onLateResult, value, onHookError);
  }

  /** Waits out what another process began to wait. */
  #resume(): Promise<T> {
    const record = this.#record;
    record.wait();
    const waitMs = record.waitLeftMs();
    if (waitMs >= this.remainingMs()) this.#end("failed", deadlineEnd(record, { waitMs }));
    else this.#events.waiting(record);
    return this.#loop();
  }

  /** From the first failure on. The loop's own first turn stands for the attempt that was made without it. */
  readonly #loop = (): Promise<T> => {
    if (this.#ending !== undefined) return this.#rejected();
    let isFirstTurn = true;
    const turn = (): Promise<T> => {
      if (!isFirstTurn) return this.#attempt();
      isFirstTurn = false;
      return Promise.reject(FAILED);
    };
    const options = { retries: Number.POSITIVE_INFINITY, minTimeout: 0, onFailedAttempt: this.#pause };
    return pRetry(turn, options).catch((error: unknown) => {
      throw this.#ending === undefined ? error : this.#ending.reason;
    });
  };

  readonly #pause = (): Promise<void> => (this.#refreshFor === undefined ? this.#wait() : this.#refresh());

  #wait(): Promise<void> {
    return this.#abortable<undefined>((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve(undefined);
      };
      this.#setAlarm(this.#record.nextAttemptAt ?? this.#record.now());
    });
  }

  #attempt(): Promise<T> {
    if (this.#isOverdue()) this.#interruption?.fire("deadline");
    if (this.#ending !== undefined) return Promise.reject(STOP);
    this.#record.startAttempt();
    this.#events.attemptStarted(this.#record);
    return this.#bounded<T>(this.#operation, this.#succeed);
  }

  #refresh(): Promise<void> {
    const error = this.#refreshFor?.error;
    this.#refreshFor = undefined;
    const { refresh } = this.#record.options;
    const renew = ({ signal }: AttemptContext): unknown => refresh?.({ signal, error });
    return this.#bounded<unknown>(renew, () => this.#record.wait()).then(() => this.#wait());
  }

  /** One call, raced against the time limit of an attempt and against the end of the run. */
  #bounded<V>(work: (context: AttemptContext) => unknown, succeed: () => void): Promise<V> {
    return this.#abortable<V>((resolve, reject) => {
      const attempt = new Attempt(this, this.#record.progress.attempts);
      const over = (): void => {
        this.#current = undefined;
        this.#timeOut = undefined;
      };
      const failed = (error: unknown, timedOut: boolean): void => {
        over();
        if (this.#isOpen()) this.#fail(error, timedOut);
        reject(this.#isOpen() ? FAILED : STOP);
      };
      this.#current = attempt;
      this.#timeOut = () => {
        const error = new DOMException("The attempt took longer than one attempt may", "TimeoutError");
        attempt.giveUp(error);
        failed(error, true);
      };
      attempt.begin(work, {
        gave: (value) => {
          over();
          succeed();
          resolve(value as V);
        },
        threw: (error) => failed(error, false),
      });
      if (this.#current === attempt) this.#armAttempt();
    });
  }

  #abortable<V>(begin: (resolve: (value: V) => void, reject: (reason: unknown) => void) => void): Promise<V> {
    if (this.#interruption === undefined || this.#ending !== undefined) return Promise.reject(STOP);
    return execute(this.#interruption.asSignal(), (resolve, reject) => {
      begin(resolve, reject);
      return cleanedUp;
    });
  }

  #armAttempt(): void {
    const now = this.#record.now();
    const remaining = Math.max(Math.ceil(this.remainingMs()), 1);
    this.#setAlarm(Math.min(this.#record.attemptEndsAt(), now + remaining));
  }

  #setAlarm(at: number): void {
    if (this.#alarm === undefined) this.#alarm = this.#record.options.timers.schedule(at, this.#ring);
    else this.#alarm.set(at);
  }

  readonly #ring = (): void => {
    if (this.#wake !== undefined) {
      this.#wake();
      return;
    }
    if (this.#timeOut === undefined) return;
    if (this.remainingMs() <= 0) this.#interruption?.fire("deadline");
    else if (this.#record.now() >= this.#record.attemptEndsAt()) this.#timeOut();
    else this.#armAttempt();
  };

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
      this.#events.attemptFailed(record);
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
      record.startRefresh();
    } else if (decision.next === "wait") {
      record.wait();
      if (this.#retryNowAsked) record.retryNow();
      this.#retryNowAsked = false;
      this.#events.waiting(record);
    } else {
      this.#stop(decision, error);
    }
  }

  #stop(decision: RetryDecision, error: unknown): void {
    const record = this.#record;
    const { signal } = record.options;
    if (decision.stoppedBy === "permanent") this.#end("failed", permanentEnd(record));
    else if (decision.stoppedBy === "exhausted") this.#end("failed", exhaustedEnd(record));
    else if (decision.stoppedBy === "deadline") this.#end("failed", deadlineEnd(record, decision));
    else this.#end("cancelled", signal?.aborted === true ? signal.reason : error);
  }

  readonly #interrupted = (by: InterruptedBy): void => {
    const { signal, deadline } = this.#record.options;
    const attempt = this.#current;
    this.#current = undefined;
    this.#timeOut = undefined;
    if (attempt !== undefined) this.#record.cutOff(by);
    const ending: unknown = by === "caller" ? signal?.reason : deadlineEnd(this.#record);
    this.#end(by === "caller" ? "cancelled" : "failed", ending);
    attempt?.giveUp(by === "deadline" && deadline?.signal.aborted === true ? deadline.signal.reason : ending);
  };

  readonly #succeed = (): void => {
    this.#ending = { reason: undefined };
    this.#settle("succeeded", undefined);
  };

  #end(state: "failed" | "cancelled", reason: unknown): void {
    if (this.#ending !== undefined) return;
    this.#ending = { reason };
    this.#settle(state, reason);
  }

  #settle(state: "succeeded" | "failed" | "cancelled", reason: unknown): void {
    this.#alarm?.[Symbol.dispose]();
    this.#wake = undefined;
    this.#interruption?.close();
    this.#record.settle(state, reason);
    this.#events.settled(this.#record);
  }

  #isOverdue(): boolean {
    return this.#record.options.deadline?.signal.aborted === true || this.remainingMs() <= 0;
  }

  #isOpen(): boolean {
    return this.#ending === undefined;
  }

  #rejected(): Promise<T> {
    return rejectedWith(this.#ending?.reason);
  }
}

/** `execute` has to have something to call on abort: by then the run has cleaned up itself. */
function cleanedUp(): void {
  // Nothing is left to do.
}
