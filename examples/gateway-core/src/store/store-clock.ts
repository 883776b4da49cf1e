import type { Clock, ScheduleOptions } from "slipway";
import { sleep } from "../sleep.js";
import { middleOf, narrowed, offsetOf, type TimeOffset, type TimeReading } from "./time-offset.js";

export interface StoreClockOptions {
  /** Drives the timers and carries the time between two questions; its wall time does not matter. */
  readonly base: Clock;
  /**
   * What time the store has, epoch milliseconds; of a store that tells it less exactly, between which instants. The
   * signal aborts when nobody wants to know any more.
   */
  readonly ask: (signal: AbortSignal) => Promise<number | TimeReading>;
  /** Time between two questions. Default 30 000. */
  readonly askEveryMs?: number | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
}

const ASK_EVERY_MS = 30_000;
/** The first answer may have waited for a connection; a few together say more. */
const FIRST_QUESTIONS = 3;
/** Two hosts' clocks drift apart a little from one question to the next: an old answer grows less exact. */
const DRIFT_MS = 1;

/**
 * The store's time, so that replicas with clocks of their own decide on one time line.
 *
 * Between two questions it runs with this process's steady clock, and it never runs backwards: a store whose clock was
 * set back stands still here until it has caught up. An answer is as exact as half the time that it took, and as the
 * store tells it; answers narrow one another down until two contradict each other, which tells that a clock was set.
 */
export class StoreClock implements Clock, AsyncDisposable {
  readonly #base: Clock;
  readonly #closing = new AbortController();
  #offset: TimeOffset;
  #offsetMs: number;
  #latest = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> = Promise.resolve();

  private constructor(base: Clock, first: TimeOffset) {
    this.#base = base;
    this.#offset = first;
    this.#offsetMs = middleOf(first);
  }

  /** Asks the store for its time; rejects when it does not answer. */
  static async start({
    base,
    ask,
    askEveryMs = ASK_EVERY_MS,
    onError,
  }: StoreClockOptions): Promise<StoreClock> {
    const { signal } = new AbortController();
    let first = await sample(base, ask, signal);
    for (let asked = 1; asked < FIRST_QUESTIONS; asked += 1) {
      first = narrowed(first, await sample(base, ask, signal), 0);
    }
    const clock = new StoreClock(base, first);
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

  /** How far that may be wrong, in milliseconds, as long as no clock is set; for metrics. */
  get uncertaintyMs(): number {
    return Math.ceil((this.#offset.most - this.#offset.least) / 2);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#asking;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #keepAsking(
    ask: StoreClockOptions["ask"],
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
      await sample(this.#base, ask, signal).then((next) => this.#take(next), onError);
    }
  }

  #take(next: TimeOffset): void {
    this.#offset = narrowed(this.#offset, next, DRIFT_MS);
    this.#offsetMs = middleOf(this.#offset);
  }
}

async function sample(base: Clock, ask: StoreClockOptions["ask"], signal: AbortSignal): Promise<TimeOffset> {
  const before = base.now();
  const told = await ask(signal);
  const reading = typeof told === "number" ? { earliest: told, latest: told } : told;
  return offsetOf(reading, before, base.now());
}
