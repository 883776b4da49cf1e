import { middleOf, offsetOf, type TimeOffset, type TimeReading } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import { ApiUnreachableError } from "./api-error.js";
import { ClusterTime, untilSecond } from "./cluster-time.js";
import { pause } from "./pause.js";

/** A server's date has whole seconds and is old by as much as the answer took: below this there is no skew to speak of. */
const LEAST_SKEW_MS = 5000;
/** Readings of two clocks count as one only with so little time from the first to the last; else they are made again. */
const TOGETHER_MS = 50;
const READINGS = 5;
/** An answer that is no older tells the time well enough. */
const TIME_FRESH_MS = 15_000;
/** What is left open of the cluster's time when the first questions for it end, and how many of them there are at most. */
const TIME_SPAN_MS = 100;
const MOST_QUESTIONS = 6;

/** The cluster's clock, as far as it is known by the dates of answers. */
export class ClusterClock {
  readonly #clock: Clock;
  readonly #ask: (signal: AbortSignal) => Promise<void>;
  /** Questions that were asked for the time alone, at the start. */
  #questions = 0;
  readonly #time = new ClusterTime();
  /** What was concluded last, for when nothing can be. */
  readonly #skews = new WeakMap<Clock, number>();

  /** @param ask - Has the server answer something, whose date comes to {@link ClusterClock.noteDate}. */
  constructor(clock: Clock, ask: (signal: AbortSignal) => Promise<void>) {
    this.#clock = clock;
    this.#ask = ask;
  }

  /** An answer that was asked for at `sentAt` came now, with this date on it. */
  noteDate(date: string | undefined, sentAt: number): void {
    const second = date === undefined ? Number.NaN : Date.parse(date);
    if (!Number.isNaN(second)) this.#time.note(second, sentAt, this.#clock.now());
  }

  /** How far the cluster's clock is ahead of a clock of this process, by the answers that were dated. */
  skewFrom(clock: Clock): number {
    const { offset } = this.#time;
    const ahead = offset === null ? null : aheadOf(this.#clock, clock);
    if (offset === null || ahead === null) return this.#skews.get(clock) ?? 0;
    const found = ahead + middleOf(offset);
    const skew = Math.abs(found) < LEAST_SKEW_MS ? 0 : found;
    this.#skews.set(clock, skew);
    return skew;
  }

  /**
   * What time the cluster has. An answer is dated by whole seconds, so that the first time the server is asked a few
   * times, each time when the middle of what is still open has it that a second begins: every answer halves what is
   * open. From then on whatever is answered tells the time, and the server is asked for nothing else only where it has
   * answered nothing for a while.
   *
   * @throws ApiUnreachableError when it does not answer, or does not date its answers.
   */
  async read(signal: AbortSignal): Promise<TimeReading> {
    if (this.#clock.now() - this.#time.heardAt > TIME_FRESH_MS) await this.#ask(signal);
    for (; this.#questions < MOST_QUESTIONS && this.#isVague(); this.#questions += 1) {
      await pause(this.#clock, untilSecond(this.#offset(), this.#clock.now()), signal);
      await this.#ask(signal);
    }
    this.#questions = MOST_QUESTIONS;
    const { least, most } = this.#offset();
    const now = this.#clock.now();
    return { earliest: now + least, latest: now + most };
  }

  #offset(): TimeOffset {
    const { offset } = this.#time;
    if (offset === null) throw new ApiUnreachableError("The API server does not date its answers");
    return offset;
  }

  #isVague(): boolean {
    const { least, most } = this.#offset();
    return most - least > TIME_SPAN_MS || !this.#time.isTrusted;
  }
}

/**
 * How far one clock of this process is ahead of another one; `null` when the two could not be read together. A process
 * that is stopped between two readings finds its own pause in one of them alone.
 */
function aheadOf(clock: Clock, other: Clock): number | null {
  let before = clock.now();
  for (let readings = 0; readings < READINGS; readings += 1) {
    const reading = other.now();
    const after = clock.now();
    const { least, most } = offsetOf({ earliest: reading, latest: reading }, before, after);
    if (most - least <= TOGETHER_MS) return -most;
    before = after;
  }
  return null;
}
