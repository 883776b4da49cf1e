import pRetry from "p-retry";
import { SlipwayError } from "../errors.js";
import { LOOP_OPTIONS } from "./again.js";
import { Attempt, type AttemptContext } from "./attempt.js";
import { AttemptRace } from "./attempt-race.js";
import { deadlineEnd, exhaustedEnd, permanentEnd } from "./endings.js";
import type { InterruptedBy } from "./interruption.js";
import { judge } from "./judge.js";
import type { RetryDecision } from "./progress.js";
import { rejectedWith } from "./rejection.js";
import type { RunRecord } from "./run-record.js";

/**
 * One run: what follows an attempt, and what ends it all.
 *
 * p-retry turns the loop, and nothing else: the waiting is done in its hook on Slipway's clock, and every decision is
 * made before it hears of a failure.
 */
export class Run<T> extends AttemptRace {
  readonly #operation: (context: AttemptContext) => T | PromiseLike<T>;
  readonly #isAsked: boolean;
  /** Boxed, because a caller's reason may be anything. */
  #ending: { readonly reason: unknown } | undefined;
  #isLooping = false;

  /** @param isAsked - Whether there is a retrier, which tells how the run went. */
  constructor(
    record: RunRecord,
    operation: (context: AttemptContext) => T | PromiseLike<T>,
    isAsked: boolean,
  ) {
    super(record);
    this.#operation = operation;
    this.#isAsked = isAsked;
  }

  /**
   * The first attempt, which whoever starts a run makes in its own frame: every frame between the operation and its
   * caller is kept with every error that is thrown. `undefined` when there is none; then {@link goOnWithout} follows.
   */
  open(): Attempt | undefined {
    const { record } = this;
    if (record.state === "succeeded" || record.state === "failed") return undefined;
    const now = record.begin();
    this.#prepare(now);
    if (this.#isEnded() || !record.isDue(now) || !this.#mayAttempt(now)) return undefined;
    return this.openAttempt();
  }

  /** What the first attempt returned, as the run's own promise. */
  returned(attempt: Attempt, result: unknown): Promise<T> {
    return this.await<T>(attempt, result) ?? this.#loop();
  }

  /** What the first attempt threw. */
  failedAtOnce(attempt: Attempt, error: unknown): Promise<T> {
    this.threw(attempt, error);
    return this.#loop();
  }

  /** There was no first attempt to make: the run waits for one, or is over. */
  goOnWithout(): Promise<T> {
    const { state } = this.record;
    if (this.#ending !== undefined || (state !== "succeeded" && state !== "failed")) return this.#loop();
    const message = `The restored run has ${state}: a new one is a new retrier`;
    return rejectedWith(new SlipwayError("INVALID_STATE", message, { field: "restore.state", value: state }));
  }

  retryNow(): boolean {
    const { record } = this;
    if (this.isOver) return false;
    if (record.state === "attempting" || record.state === "refreshing") {
      // The news may be younger than the attempt: if that fails, the wait after it is cut short.
      record.retryNowAsked = true;
      return true;
    }
    if (!record.retryNow()) return false;
    const now = record.now();
    // A wait that began in this very instant ends on a timer, so that a macrotask lies between two attempts.
    if (record.isDue(now) && now > (record.last?.endedAt ?? 0)) this.endWait();
    else this.moveWait(record.nextAttemptAt ?? now);
    return true;
  }

  get reason(): unknown {
    return this.#ending?.reason;
  }

  get isOver(): boolean {
    return this.#ending !== undefined;
  }

  /** What ends a run before it begins, or makes it wait for what another process planned. */
  #prepare(now: number): void {
    const { record } = this;
    const { signal, deadline } = record.options;
    const isOverdue = this.#isOverdue();
    // Asked last: whoever says how much is left may have aborted, and nobody watches yet.
    if (signal?.aborted === true) {
      this.interrupt("caller");
    } else if (isOverdue) {
      this.interrupt("deadline");
    } else if (record.isExhausted()) {
      this.#end("failed", exhaustedEnd(record));
    } else {
      this.watch(signal, deadline?.signal);
      if (!record.isDue(now)) this.#resume();
    }
  }

  #resume(): void {
    const { record } = this;
    record.wait();
    const waitMs = record.waitLeftMs();
    if (waitMs >= this.remainingMs()) this.#end("failed", deadlineEnd(record, { waitMs }));
    else record.events?.waiting(record);
  }

  /** From the first failure on. The loop's own first turn stands for the attempt that was made without it. */
  #loop(): Promise<T> {
    if (this.#ending !== undefined) return rejectedWith(this.#ending.reason);
    this.#isLooping = true;
    return pRetry(this.#turn.bind(this), LOOP_OPTIONS);
  }

  #turn(turn: number): Promise<T> {
    if (turn === 1) return rejectedWith(this);
    const attempt = this.#mayAttempt(this.record.now()) ? this.call<T>(this.#operation) : undefined;
    return attempt ?? rejectedWith(this);
  }

  /** The loop's hook, after every failed turn. What ended the run leaves by here, unwrapped: it may be anything. */
  pause(): Promise<void> {
    if (this.#ending !== undefined) return rejectedWith(this.#ending.reason);
    return this.record.state === "refreshing" ? this.#refresh() : this.wait();
  }

  /** The embedder's `refresh` is an attempt of its own kind: bounded, abortable, and never repeated. */
  async #refresh(): Promise<void> {
    const { options, last } = this.record;
    const renew = ({ signal }: AttemptContext): unknown => options.refresh?.({ signal, error: last?.error });
    await this.call<unknown>(renew)?.catch(() => undefined);
    if (this.#ending !== undefined) throw this.#ending.reason;
    await this.wait();
  }

  /** The promise of the first attempt becomes that of the loop: one promise less for every run that waits. */
  protected override goOn(attempt: Attempt): void {
    if (this.#isLooping) Attempt.reject(attempt, this);
    else Attempt.resolve(attempt, this.#loop());
  }

  protected override interruptedWith(): unknown {
    return this.#isLooping ? this : this.#ending?.reason;
  }

  /** Begins an attempt, unless the run is over by now. */
  #mayAttempt(now: number): boolean {
    const { record } = this;
    if (this.#isOverdue()) this.interrupt("deadline");
    if (this.#ending !== undefined) return false;
    record.startAttempt(now);
    record.events?.attemptStarted(record);
    return !this.#isEnded();
  }

  protected override succeeded(): void {
    if (this.record.state === "refreshing") {
      this.record.refreshed = true;
      this.#beginWait();
      return;
    }
    this.#ending = { reason: undefined };
    this.#settle("succeeded", undefined);
  }

  protected override failed(error: unknown, timedOut: boolean): void {
    const { record } = this;
    const { options } = record;
    if (record.state === "refreshing") {
      this.#end("failed", permanentEnd(record, error));
      return;
    }
    try {
      const now = record.now();
      const classification = judge(error, { signal: options.signal, timedOut, now }, options);
      const weighed = this.#isEnded() ? undefined : record.weigh(classification, now);
      // A classifier or a backoff may have aborted the run: its end is told by now, and nothing follows it.
      if (weighed === undefined || this.#isEnded()) return;
      record.fail(error, weighed);
      record.events?.attemptFailed(record);
      // A listener may have aborted the run.
      if (!this.#isEnded()) this.#follow(weighed.decision, error);
    } catch (mistake) {
      // A backoff of the embedder's own threw: a mistake, which no attempt mends.
      this.#end("failed", mistake);
    }
  }

  #follow(decision: RetryDecision, error: unknown): void {
    if (decision.next === "refresh") this.record.startRefresh();
    else if (decision.next === "wait") this.#beginWait();
    else this.#stop(decision, error);
  }

  #beginWait(): void {
    const { record } = this;
    record.wait();
    if (record.retryNowAsked) {
      record.retryNowAsked = false;
      record.retryNow();
    }
    record.events?.waiting(record);
  }

  #stop(decision: RetryDecision, error: unknown): void {
    const { record } = this;
    const { signal } = record.options;
    if (decision.stoppedBy === "permanent") this.#end("failed", permanentEnd(record));
    else if (decision.stoppedBy === "exhausted") this.#end("failed", exhaustedEnd(record));
    else if (decision.stoppedBy === "deadline") this.#end("failed", deadlineEnd(record, decision));
    else this.#end("cancelled", signal?.aborted === true ? signal.reason : error);
  }

  protected override isCaller(signal: AbortSignal): boolean {
    return signal === this.record.options.signal;
  }

  protected override interrupted(by: InterruptedBy): void {
    const { signal, deadline } = this.record.options;
    const attempt = this.takeCurrent();
    // The attempt that a refresh follows is in the history already.
    if (attempt !== undefined && !Attempt.isRefresh(attempt)) this.record.cutOff(by);
    const ending: unknown = by === "caller" ? signal?.reason : deadlineEnd(this.record);
    this.#end(by === "caller" ? "cancelled" : "failed", ending);
    if (attempt === undefined) return;
    const isExpired = by === "deadline" && deadline?.signal.aborted === true;
    Attempt.giveUp(attempt, isExpired ? deadline.signal.reason : ending);
  }

  #end(state: "failed" | "cancelled", reason: unknown): void {
    if (this.#ending !== undefined) return;
    this.#ending = { reason };
    this.#settle(state, reason);
  }

  #settle(state: "succeeded" | "failed" | "cancelled", reason: unknown): void {
    const { record } = this;
    this.disarm();
    this.unwatch(record.options.signal, record.options.deadline?.signal);
    // A part that succeeded leaves the bootstrap under way: a snapshot of "succeeded" would not be gone on with.
    if (record.isPart && state === "succeeded") return;
    // A success that nobody can ask about is not recorded: that would read the clock, an eighth of a first try.
    if (!this.#isAsked && state === "succeeded") return;
    record.settle(state, reason);
    record.events?.settled(record);
  }

  #isOverdue(): boolean {
    return this.record.options.deadline?.signal.aborted === true || this.remainingMs() <= 0;
  }

  #isEnded(): boolean {
    return this.#ending !== undefined;
  }
}
