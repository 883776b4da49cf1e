// The file and not the package: its index is CommonJS of 15 files, which cost an import of this library 25 ms.
import { execute } from "abort-controller-x/lib/execute.js";
import { sharedQueue, type Alarm, type AlarmOwner } from "../clock/index.js";
import { callHook } from "../events/index.js";
import type { Pausing } from "./again.js";
import { Attempt, type AttemptContext } from "./attempt.js";
import { Interruption } from "./interruption.js";
import { passOn, rejectedWith } from "./rejection.js";
import type { RunRecord } from "./run-record.js";

/**
 * One attempt, or one wait, at a time, each raced against its time and against the end of the run. One alarm serves
 * both.
 */
export abstract class AttemptRace extends Interruption implements Pausing, AlarmOwner {
  protected readonly record: RunRecord;
  #alarm: Alarm | undefined;
  #current: Attempt | undefined;
  #wake: ((value: undefined) => void) | undefined;

  constructor(record: RunRecord) {
    super();
    this.record = record;
  }

  abstract pause(): Promise<void>;
  /** The attempt gave a value in time. */
  protected abstract succeeded(): void;
  /** The attempt failed in time. */
  protected abstract failed(error: unknown, timedOut: boolean): void;
  /** Settles the promise of an attempt that failed. */
  protected abstract goOn(attempt: Attempt): void;
  /** What the promise of an attempt rejects with that was cut off. */
  protected abstract interruptedWith(): unknown;

  remainingMs(): number {
    return this.record.remainingMs();
  }

  protected openAttempt(): Attempt {
    const attempt = new Attempt(this.record.attempts, this.record.state === "refreshing", this);
    this.#current = attempt;
    return attempt;
  }

  /** Calls what is to be attempted. `undefined` when it ended before there was anything to wait for. */
  protected call<V>(work: (context: AttemptContext) => unknown): Promise<V> | undefined {
    const attempt = this.openAttempt();
    let result: unknown;
    try {
      result = work(attempt);
    } catch (error) {
      this.threw(attempt, error);
      return undefined;
    }
    return this.await<V>(attempt, result);
  }

  /** Waits for what the call returned, as long as an attempt may take. */
  protected await<V>(attempt: Attempt, result: unknown): Promise<V> | undefined {
    // A plain value is there already: it needs neither a timer nor a race.
    if (typeof result !== "object" && typeof result !== "function") {
      return this.#gave(attempt, result) ? Promise.resolve(result as V) : undefined;
    }
    try {
      // As `await` does it: what somebody put in the place of a promise's own `then` has no say.
      void Promise.prototype.then.call(
        Promise.resolve(result),
        (value) => this.#gave(attempt, value),
        (error: unknown) => this.threw(attempt, error),
      );
    } catch (error) {
      this.threw(attempt, error);
    }
    if (this.#current === attempt) this.#armAttempt();
    if (this.#current !== attempt) return undefined;
    return execute<V>(this.asSignal(), (resolve, reject) => {
      Attempt.awaitedBy(attempt, resolve as (value: unknown) => void, reject);
      return () => rejectedWith(this.interruptedWith());
    });
  }

  protected threw(attempt: Attempt, error: unknown, timedOut = false): void {
    if (this.#current !== attempt) return;
    this.#current = undefined;
    if (timedOut) Attempt.giveUp(attempt, error);
    this.failed(error, timedOut);
    if (Attempt.isAwaited(attempt)) this.goOn(attempt);
  }

  /** Whether the value counts. It comes too late also while the alarm is late itself, as in a host that was busy. */
  #gave(attempt: Attempt, value: unknown): boolean {
    if (this.#current === attempt && this.remainingMs() <= 0) this.interrupt("deadline");
    if (this.#current !== attempt) {
      const { onLateResult, onHookError } = this.record.options;
      if (!Attempt.isRefresh(attempt)) callHook(onLateResult, value, onHookError);
      return false;
    }
    this.#current = undefined;
    this.succeeded();
    Attempt.resolve(attempt, value);
    return true;
  }

  /** Takes the attempt that is under way out of the race: nothing that it does later counts. */
  protected takeCurrent(): Attempt | undefined {
    const attempt = this.#current;
    this.#current = undefined;
    return attempt;
  }

  protected wait(): Promise<void> {
    this.#setAlarm(this.record.nextAttemptAt ?? this.record.now());
    AttemptRace.#beginning = this;
    return execute(this.asSignal(), AttemptRace.#takeWake);
  }

  /** Whose wait begins: handed over within one call. */
  static #beginning: AttemptRace | undefined;

  /** One function for every wait: `execute` keeps what it is given while it waits, and a closure with its context. */
  static readonly #takeWake = (resolve: (value: undefined) => void): typeof passOn => {
    const race = AttemptRace.#beginning;
    AttemptRace.#beginning = undefined;
    if (race !== undefined) race.#wake = resolve;
    return passOn;
  };

  /** The wait ends now, or at another instant. */
  protected endWait(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(undefined);
  }

  protected moveWait(at: number): void {
    if (this.#wake !== undefined) this.#alarm?.set(at);
  }

  protected disarm(): void {
    this.#alarm?.[Symbol.dispose]();
    this.#wake = undefined;
  }

  #armAttempt(): void {
    const remaining = Math.max(Math.ceil(this.remainingMs()), 1);
    // Whoever says how much is left may have aborted the run: nothing rings for it any more.
    if (this.#current === undefined) return;
    this.#setAlarm(Math.min(this.record.attemptEndsAt(), this.record.now() + remaining));
  }

  #setAlarm(at: number): void {
    if (this.#alarm !== undefined) {
      this.#alarm.set(at);
      return;
    }
    const { timers, clock } = this.record.options;
    this.#alarm = (timers ?? sharedQueue(clock, false)).scheduleFor(at, this);
  }

  alarmRang(): void {
    const attempt = this.#current;
    if (attempt === undefined) this.endWait();
    else if (this.remainingMs() <= 0) this.interrupt("deadline");
    else if (this.record.now() < this.record.attemptEndsAt()) this.#armAttempt();
    else
      this.threw(
        attempt,
        new DOMException("The attempt took longer than one attempt may", "TimeoutError"),
        true,
      );
  }
}
