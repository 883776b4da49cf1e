import { execute } from "abort-controller-x";
import pRetry from "p-retry";
import type { Alarm } from "../clock/index.js";
import { Attempt, callHook, type AttemptContext, type AttemptOwner } from "./attempt.js";
import { judge } from "./judge.js";
import { FAILED, Interruption, STOP, type InterruptedBy } from "./interruption.js";
import { BootstrapDeadlineError, BootstrapExhaustedError, BootstrapPermanentError } from "./errors.js";
import type { RetryDecision } from "./progress.js";
import type { RunEvents } from "./run-events.js";
import type { RunRecord } from "./run-record.js";

/** How a run ended without a value. Boxed, because a caller's reason may be anything. */
interface Ending {
  readonly reason: unknown;
}

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
  #ending: Ending | undefined;
  /** Ends the wait that is under way. */
  #wake: (() => void) | undefined;
  /** Ends the attempt that is under way for taking too long. */
  #timeOut: (() => void) | undefined;
  #refreshOf: unknown;
  #refreshDue = false;
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
    const { signal, deadline } = this.#record.options;
    const now = this.#record.begin();
    if (signal?.aborted === true) return this.#refuse("caller");
    if (this.#isOverdue()) return this.#refuse("deadline");
    this.#interruption = new Interruption(signal, deadline?.signal, this.#interrupted);
    if (this.#record.isExhausted()) {
      const { history, options } = this.#record;
      this.#end("failed", new BootstrapExhaustedError(history, this.#record.cause(), options.maxAttempts));
      return this.#rejected();
    }
    const { nextAttemptAt } = this.#record;
    if (nextAttemptAt !== null && nextAttemptAt > now) return this.#resume(nextAttemptAt - now);
    return this.#attempt().catch(this.#loop);
  }

  /** Ends the wait early: see {@link BootstrapRetrier.retryNow}. */
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
    if (record.isDue(now) && now > record.waitingSince && this.#wake !== undefined) this.#wake();
    else if (this.#wake !== undefined) this.#setAlarm(record.nextAttemptAt ?? now);
    return true;
  }

  remainingMs(): number {
    return this.#record.remainingMs();
  }

  #isOverdue(): boolean {
    return this.#record.options.deadline?.signal.aborted === true || this.remainingMs() <= 0;
  }

  takeLate(value: unknown): void {
    const { onLateResult, onHookError } = this.#record.options;
    callHook(onLateResult, value, onHookError);
  }

  /** Waits out what another process began to wait. */
  #resume(waitMs: number): Promise<T> {
    const remainingMs = this.remainingMs();
    if (waitMs >= remainingMs) {
      this.#endByDeadline({ waitMs, remainingMs, hintMs: null });
      return this.#rejected();
    }
    this.#record.wait();
    this.#events.waiting(this.#record);
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

  readonly #pause = (): Promise<void> => (this.#refreshDue ? this.#refresh() : this.#wait());

  #wait(): Promise<void> {
    return this.#abortable<undefined>((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve(undefined);
      };
      this.#setAlarm(this.#record.nextAttemptAt ?? this.#record.now());
      return noCleanup;
    });
  }

  #attempt(): Promise<T> {
    const record = this.#record;
    if (this.#isOverdue()) this.#interruption?.fire("deadline");
    if (this.#ending !== undefined) return Promise.reject(STOP);
    record.startAttempt();
    this.#events.attemptStarted(this.#record);
    return this.#bounded<T>(this.#operation, (value) => this.#succeed(value));
  }

  /** One attempt, raced against its time limit and against the end of the run. */
  #bounded<V>(work: (context: AttemptContext) => unknown, gave: (value: V) => void): Promise<V> {
    return this.#abortable<V>((resolve, reject) => {
      const attempt = new Attempt(this, this.#record.progress.attempts);
      this.#current = attempt;
      const failed = (error: unknown, timedOut: boolean): void => {
        this.#attemptOver();
        if (this.#ending === undefined) this.#fail(error, timedOut);
        reject(this.#ending === undefined ? FAILED : STOP);
      };
      this.#timeOut = () => {
        const error = new DOMException("The attempt took longer than one attempt may", "TimeoutError");
        attempt.giveUp(error);
        failed(error, true);
      };
      attempt.begin(work, attempt, {
        gave: (value) => {
          this.#attemptOver();
          gave(value as V);
          resolve(value as V);
        },
        threw: (error) => failed(error, false),
      });
      if (this.#current === attempt) this.#armAttempt();
      return noCleanup;
    });
  }

  #refresh(): Promise<void> {
    this.#refreshDue = false;
    const { refresh } = this.#record.options;
    const error = this.#refreshOf;
    const renewed = this.#bounded<unknown>(
      (context) => refresh?.({ signal: context.signal, error }),
      () => this.#record.wait(),
    );
    return renewed.then(() => this.#wait());
  }

  #abortable<V>(
    begin: (resolve: (value: V) => void, reject: (reason: unknown) => void) => () => void,
  ): Promise<V> {
    if (this.#interruption === undefined || this.#ending !== undefined) return Promise.reject(STOP);
    return execute(this.#interruption.asSignal(), begin);
  }

  #attemptOver(): void {
    this.#current = undefined;
    this.#timeOut = undefined;
  }

  #armAttempt(): void {
    const { attemptTimeoutMs } = this.#record.options;
    const now = this.#record.now();
    const remaining = Math.max(Math.ceil(this.remainingMs()), 1);
    const limit = (this.#record.boundedSince ?? now) + attemptTimeoutMs;
    this.#setAlarm(Math.min(limit, now + remaining));
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
    else if (this.#record.isAttemptTooLong()) this.#timeOut();
    else this.#armAttempt();
  };

  #succeed(_value: T): void {
    this.#ending = { reason: undefined };
    this.#settle("succeeded");
  }

  #fail(error: unknown, timedOut: boolean): void {
    const record = this.#record;
    const { options } = record;
    if (record.refreshing) {
      this.#end("failed", new BootstrapPermanentError(record.history, record.cause(), error));
      return;
    }
    try {
      const now = record.now();
      const classification = judge(error, { signal: options.signal, timedOut, now }, options);
      const decision = record.fail(error, classification, now);
      this.#events.attemptFailed(this.#record);
      // A listener may have aborted the run.
      if (this.#isOpen()) this.#follow(decision, error);
    } catch (mistake) {
      // A backoff of the embedder's own threw: a mistake, which no attempt mends.
      this.#end("failed", mistake);
    }
  }

  #isOpen(): boolean {
    return this.#ending === undefined;
  }

  #follow(decision: RetryDecision, error: unknown): void {
    const record = this.#record;
    if (decision.next === "refresh") {
      this.#refreshDue = true;
      this.#refreshOf = error;
      record.startRefresh();
    } else if (decision.next === "wait") {
      record.wait();
      if (this.#retryNowAsked) record.retryNow();
      this.#events.waiting(this.#record);
    } else {
      this.#stop(decision, error);
    }
    this.#retryNowAsked = false;
  }

  #stop(decision: RetryDecision, error: unknown): void {
    const { history, options } = this.#record;
    const cause = this.#record.cause();
    if (decision.stoppedBy === "permanent") this.#end("failed", new BootstrapPermanentError(history, cause));
    else if (decision.stoppedBy === "exhausted")
      this.#end("failed", new BootstrapExhaustedError(history, cause, options.maxAttempts));
    else if (decision.stoppedBy === "deadline")
      this.#endByDeadline({
        waitMs: decision.waitMs,
        remainingMs: Math.max(this.remainingMs(), 0),
        hintMs: decision.hintMs,
      });
    else this.#end("cancelled", options.signal?.aborted === true ? options.signal.reason : error);
  }

  /** Before anything began: there is nothing to let go of. */
  #refuse(by: InterruptedBy): Promise<T> {
    this.#interrupted(by);
    return this.#rejected();
  }

  readonly #interrupted = (by: InterruptedBy): void => {
    const { signal, deadline } = this.#record.options;
    const attempt = this.#current;
    this.#attemptOver();
    if (attempt !== undefined) this.#record.cutOff(by);
    const reason: unknown = by === "caller" ? signal?.reason : deadline?.signal.reason;
    if (by === "caller") this.#end("cancelled", reason);
    else this.#endByDeadline({ waitMs: null, remainingMs: Math.max(this.remainingMs(), 0), hintMs: null });
    attempt?.giveUp(by === "caller" || deadline?.signal.aborted === true ? reason : this.#ending?.reason);
  };

  #endByDeadline(found: Pick<BootstrapDeadlineError, "waitMs" | "remainingMs" | "hintMs">): void {
    const { history, options } = this.#record;
    const signal = options.deadline?.signal;
    const deadlineReason: unknown = signal?.aborted === true ? signal.reason : undefined;
    const cause = history.length === 0 ? deadlineReason : this.#record.cause();
    const detail = {
      waitMs: found.waitMs,
      remainingMs: found.remainingMs,
      hintMs: found.hintMs,
      deadlineReason,
    };
    this.#end("failed", new BootstrapDeadlineError(history, cause, detail));
  }

  #end(state: "failed" | "cancelled", reason: unknown): void {
    if (this.#ending !== undefined) return;
    this.#ending = { reason };
    this.#settle(state, reason);
  }

  #settle(state: "succeeded" | "failed" | "cancelled", reason?: unknown): void {
    this.#alarm?.[Symbol.dispose]();
    this.#wake = undefined;
    this.#interruption?.close();
    this.#record.settle(state, reason);
    this.#events.settled(this.#record);
  }

  #rejected(): Promise<T> {
    return Promise.reject(this.#ending?.reason);
  }
}

/** `execute` must be given something to call on abort. It is all done before it gets there. */
function noCleanup(): void {
  // Nothing is left.
}
