import type { Clock, ScheduleOptions } from "slipway";
import { sleep } from "../sleep.js";

export interface StoreClockOptions {
  /** Drives the timers and carries the time between two questions; its wall time does not matter. */
  readonly base: Clock;
  /** What time the store has, epoch milliseconds. */
  readonly ask: () => Promise<number>;
  /** Time between two questions. Default 30 000. */
  readonly askEveryMs?: number | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
}

const ASK_EVERY_MS = 30_000;
/** The first answer may have waited for a connection; the quickest of a few is the best. */
const FIRST_QUESTIONS = 3;

/**
 * The store's time, so that replicas with clocks of their own decide on one time line.
 *
 * Between two questions it runs with this process's steady clock, and it never runs backwards: a store whose clock was
 * set back stands still here until it has caught up. An answer is as exact as half the time that it took; one that took
 * longer than the present one is taken only when the two contradict each other.
 */
export class StoreClock implements Clock, AsyncDisposable {
  readonly #base: Clock;
  readonly #closing = new AbortController();
  #offsetMs: number;
  #errorMs: number;
  #latest = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> = Promise.resolve();

  private constructor(base: Clock, first: Sample) {
    this.#base = base;
    this.#offsetMs = first.offsetMs;
    this.#errorMs = first.errorMs;
  }

  /** Asks the store for its time; rejects when it does not answer. */
  static async start({
    base,
    ask,
    askEveryMs = ASK_EVERY_MS,
    onError,
  }: StoreClockOptions): Promise<StoreClock> {
    let best = await sample(base, ask);
    for (let asked = 1; asked < FIRST_QUESTIONS; asked += 1) {
      const next = await sample(base, ask);
      if (next.errorMs < best.errorMs) best = next;
    }
    const clock = new StoreClock(base, best);
    clock.#asking = clock.#keepAsking(ask, askEveryMs, onError);
    return clock;
  }

  now(): number {
    const now = this.#base.now() + this.#offsetMs;
    if (now > this.#latest) this.#latest = now;
    return this.#latest;
  }

  schedule(atMs: number, callback: () => void, options?: ScheduleOptions): Disposable {
    let alarm: Disposable;
    const arm = (): void => {
      alarm = this.#base.schedule(
        atMs - this.#offsetMs,
        () => {
          // The store's time may have turned out to be another one meanwhile.
          if (this.now() < atMs) arm();
          else callback();
        },
        options,
      );
    };
    arm();
    return { [Symbol.dispose]: () => alarm[Symbol.dispose]() };
  }

  /** How far this host's clock is behind the store's, in milliseconds; for metrics. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#asking;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #keepAsking(
    ask: () => Promise<number>,
    everyMs: number,
    onError: ((error: unknown) => void) | undefined,
  ): Promise<void> {
    const { signal } = this.#closing;
    const slept = () =>
      sleep(this.#base, everyMs, signal).then(
        () => true,
        () => false,
      );
    while (await slept()) {
      // A store that is away keeps no time either: the steady clock carries on from the last answer.
      await sample(this.#base, ask).then((next) => this.#take(next), onError);
    }
  }

  #take({ offsetMs, errorMs }: Sample): void {
    const apart = Math.abs(offsetMs - this.#offsetMs);
    if (errorMs > this.#errorMs && apart <= errorMs + this.#errorMs) {
      // Two hosts' clocks drift apart a little: an old answer grows less exact with time.
      this.#errorMs += 1;
      return;
    }
    this.#offsetMs = offsetMs;
    this.#errorMs = errorMs;
  }
}

interface Sample {
  readonly offsetMs: number;
  readonly errorMs: number;
}

async function sample(base: Clock, ask: () => Promise<number>): Promise<Sample> {
  const before = base.now();
  const told = await ask();
  const after = base.now();
  return { offsetMs: Math.round(told - (before + after) / 2), errorMs: Math.ceil((after - before) / 2) };
}
