import type { Clock } from "slipway";
import { sleep } from "../../sleep.js";

export interface ByteMeterOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called at most once per interval, and for the first and the last byte. */
  readonly report: (position: number) => void;
  readonly reportEveryMs: number;
  readonly bytesPerSecond?: number | undefined;
  /** Where to stop for ever, to show what a stall looks like. */
  readonly stallAtBytes?: number | undefined;
  /** Say everything twice, as a redelivering channel does; while stalled, go on repeating the last position. */
  readonly repeatReports?: boolean | undefined;
}

/**
 * Counts bytes that were written, reports the count at a bounded rate, and holds the copy back where asked to. Several
 * writers may share it: each takes a piece before it writes it, so that a fault sits at its exact byte all the same.
 */
export class ByteMeter {
  readonly #options: ByteMeterOptions;
  readonly #startedAt: number;
  #taken = 0;
  #position = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #reported = -1;
  #stalled = false;

  constructor(options: ByteMeterOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#report(0);
  }

  /** Waits where a stall or a rate says so, and grants a piece of at most `wanted` bytes, more than 0. */
  async take(wanted: number): Promise<number> {
    const { clock, signal, stallAtBytes, bytesPerSecond } = this.#options;
    signal.throwIfAborted();
    if (bytesPerSecond !== undefined) {
      const earliest = this.#startedAt + (this.#taken / bytesPerSecond) * 1000;
      const wait = earliest - clock.now();
      if (wait > 0) await sleep(clock, Math.ceil(wait), signal);
    }
    if (stallAtBytes !== undefined && this.#taken >= stallAtBytes) await this.#stall();
    const beforeStall = stallAtBytes === undefined ? wanted : stallAtBytes - this.#taken;
    // A tenth of a second at a time, so that a slow copy still moves smoothly.
    const slice = bytesPerSecond === undefined ? wanted : Math.max(Math.ceil(bytesPerSecond / 10), 1);
    const granted = Math.min(wanted, beforeStall, slice);
    this.#taken += granted;
    return granted;
  }

  /** Says that a piece that was taken has been written. */
  add(bytes: number): void {
    this.#position += bytes;
    const now = this.#options.clock.now();
    if (now - this.#reportedAt >= this.#options.reportEveryMs) this.#report(now);
  }

  async #stall(): Promise<never> {
    const { clock, signal, reportEveryMs, repeatReports } = this.#options;
    const first = !this.#stalled;
    this.#stalled = true;
    for (;;) {
      await sleep(clock, reportEveryMs, signal);
      // The others may still have been writing at first; from then on this is a repetition.
      if (first && (repeatReports === true || this.#position > this.#reported)) this.#report(clock.now());
    }
  }

  #report(now: number): void {
    this.#reportedAt = now;
    this.#reported = this.#position;
    this.#options.report(this.#position);
    if (this.#options.repeatReports === true) this.#options.report(this.#position);
  }
}
