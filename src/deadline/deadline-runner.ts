import { sharedQueue, systemClock, type Alarm, type Clock, type TimerQueue } from "../clock/index.js";
import { invalid, type SlipwayError } from "../errors.js";
import { announce } from "./announce.js";
import { applyDeadlineEvent } from "./apply.js";
import { deadlineAt } from "./bounds.js";
import { DeadlineExpiredError } from "./deadline-errors.js";
import type { DeadlineEvent } from "./event.js";
import type { DeadlineEvents } from "./live-events.js";
import type { PhasedDeadlineOptions } from "./live-options.js";
import { Notifier } from "./notifier.js";
import type { DeadlineOutcome } from "./outcome.js";
import { readDeadline } from "./read.js";
import { rebaseClock } from "./rebase.js";
import type { DeadlineState } from "./state.js";

const DEFAULT_PROGRESS_EVERY_MS = 1000;

/** @internal */
export type Maybe<T> = T | PromiseLike<T>;

/**
 * Runs one attempt in this process: decides on the state it holds, keeps one alarm set to the next instant at which
 * something is due, and tells listeners what became different.
 *
 * @internal
 */
export class DeadlineRunner {
  /** Refreshed by whoever reads it through {@link DeadlineRunner.look}. */
  state: DeadlineState;
  readonly clock: Clock;
  protected readonly options: PhasedDeadlineOptions;
  readonly #queue: TimerQueue;
  #alarm: Alarm | undefined;
  #notifier: Notifier<DeadlineEvents> | undefined;
  #controller: AbortController | undefined;
  #announcedVersion: number;
  /** Until when progress alone is not announced, and when the news held back is due. */
  #quietUntil = Number.NEGATIVE_INFINITY;
  #flushAt = Number.POSITIVE_INFINITY;
  #disposed = false;

  constructor(state: DeadlineState, options: PhasedDeadlineOptions) {
    checkOptions(options);
    this.state = state;
    this.options = options;
    this.#announcedVersion = state.version;
    this.clock = options.clock ?? systemClock;
    this.#queue = options.timers ?? sharedQueue(this.clock, options.unref === true);
  }

  /** Begins to watch the clock. */
  watch(): void {
    this.arm();
  }

  /** Decides an event and answers as the caller of a live deadline expects it. */
  answer(event: DeadlineEvent): unknown {
    return this.submit(event);
  }

  /** Decides an event on the latest state. */
  submit(event: DeadlineEvent): Maybe<DeadlineOutcome> {
    const now = this.clock.now();
    const step = applyDeadlineEvent(this.state, event, now);
    if (step.outcome.changed) this.become(step.state, now, event);
    return step.outcome;
  }

  /** Expiry is true from its instant on: whoever looks first finds it. */
  look(): DeadlineState {
    if (this.isDue()) void this.submit({ type: "tick" });
    return this.state;
  }

  /** Moves the state onto a clock that was set back before this process started. */
  rebase(): void {
    const rebased = rebaseClock(this.state, this.clock.now());
    if (rebased === this.state) return;
    this.state = rebased;
    // Nobody can listen yet: the change is announced as soon as the caller had a chance to.
    this.#flushAt = this.clock.now();
    this.arm();
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      this.#abortWhenOver();
    }
    return this.#controller.signal;
  }

  get notifier(): Notifier<DeadlineEvents> {
    this.#notifier ??= new Notifier((error) => {
      this.report(error);
    });
    return this.#notifier;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.flush();
    this.#disposed = true;
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = undefined;
    this.#notifier?.clear();
  }

  /** Why work must stop although the state does not say so, `undefined` when it need not. */
  protected get stopped(): SlipwayError | undefined {
    return undefined;
  }

  protected report(error: unknown): void {
    try {
      this.options.onError?.(error);
    } catch {
      // An error handler that throws has nobody left to tell.
    }
  }

  protected isDue(now: number = this.clock.now()): boolean {
    if (this.state.status !== "active" || this.stopped !== undefined) return false;
    return now >= deadlineAt(this.state) || now >= this.#nextObservation();
  }

  /** Time left in milliseconds. */
  remainingMs(): number {
    const state = this.look();
    return this.stopped === undefined ? readDeadline(state, this.clock.now()).remainingMs : 0;
  }

  /** Takes over a new state of the attempt and tells everybody what it brought. */
  protected become(next: DeadlineState, now: number, event?: DeadlineEvent): void {
    const before = this.state;
    this.state = next;
    const quiet = event?.type === "progress" && next.status === "active" && this.#hold(now);
    this.arm();
    if (next.status !== before.status) this.#abortWhenOver();
    if (this.#notifier !== undefined && !this.#disposed) announce(this.#notifier, before, next, event);
    if (!quiet) this.publish(now);
  }

  /** Stops watching an attempt that is over without being settled here. */
  protected stop(current: DeadlineState): void {
    this.state = current;
    this.#flushAt = Number.POSITIVE_INFINITY;
    this.arm();
    this.#abortWhenOver();
  }

  /** Lets news out that is not to wait. */
  protected publish(now: number): void {
    this.saveNews(now);
  }

  /** Announces the latest state as news to persist, unless that was done. */
  protected saveNews(now: number): void {
    this.#flushAt = Number.POSITIVE_INFINITY;
    if (this.#announcedVersion >= this.state.version) return;
    this.#announcedVersion = this.state.version;
    this.#quietUntil = now + (this.options.progressEveryMs ?? DEFAULT_PROGRESS_EVERY_MS);
    if (!this.#disposed) this.#notifier?.notify("change", this.state);
  }

  /** Lets out what was held back. */
  protected flush(): void {
    this.saveNews(this.clock.now());
  }

  /** Sets the alarm to the next instant at which something is due. */
  protected arm(notBefore = Number.NEGATIVE_INFINITY): void {
    if (this.#disposed) return;
    const at = Math.max(this.#nextWake(), notBefore);
    if (at === Number.POSITIVE_INFINITY) {
      this.#alarm?.[Symbol.dispose]();
      return;
    }
    if (this.#alarm === undefined) this.#alarm = this.#queue.schedule(at, this.#ring);
    else this.#alarm.set(at);
  }

  readonly #ring = (): void => {
    if (this.clock.now() >= this.#flushAt) this.flush();
    this.look();
    this.wakeLater();
  };

  /** Sets the alarm again after it rang. */
  protected wakeLater(): void {
    this.arm();
  }

  #nextWake(): number {
    if (this.state.status !== "active" || this.stopped !== undefined) return this.#flushAt;
    return Math.min(deadlineAt(this.state), this.#nextObservation(), this.#flushAt);
  }

  #nextObservation(): number {
    const observes = this.options.observe ?? this.options.commit !== undefined;
    return observes ? this.state.observedAt + this.state.plan.observeEveryMs + 1 : Number.POSITIVE_INFINITY;
  }

  /** Whether news of progress is to wait; remembers until when. */
  #hold(now: number): boolean {
    if (now >= this.#quietUntil) return false;
    this.#flushAt = this.#quietUntil;
    return true;
  }

  #abortWhenOver(): void {
    const controller = this.#controller;
    if (controller === undefined || controller.signal.aborted) return;
    const { expiry, cancellation, attempt } = this.state;
    if (this.stopped !== undefined) controller.abort(this.stopped);
    else if (expiry !== null) controller.abort(new DeadlineExpiredError(attempt, expiry));
    else if (cancellation !== null) controller.abort(cancellation.reason);
  }
}

function checkOptions(options: PhasedDeadlineOptions): void {
  const { progressEveryMs } = options;
  if (progressEveryMs === undefined) return;
  if (!Number.isSafeInteger(progressEveryMs) || progressEveryMs < 0) {
    throw invalid(
      "INVALID_OPTION",
      "deadline option",
      "progressEveryMs",
      "a safe integer, 0 or more",
      progressEveryMs,
    );
  }
}
