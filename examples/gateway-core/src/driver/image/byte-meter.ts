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

/** Counts bytes that were written, reports the count at a bounded rate, and holds the copy back where asked to. */
export class ByteMeter {
  readonly #options: ByteMeterOptions;
  readonly #startedAt: number;
  #position = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ByteMeterOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#report(0);
  }

  get position(): number {
    return this.#position;
  }

  /** How much may be written next, at most `wanted`: a fault sits at its exact byte. */
  allowance(wanted: number): number {
    const { stallAtBytes, bytesPerSecond } = this.#options;
    const beforeStall = stallAtBytes === undefined ? wanted : Math.max(stallAtBytes - this.#position, 0);
    // A tenth of a second at a time, so that a slow copy still moves smoothly.
    const slice = bytesPerSecond === undefined ? wanted : Math.max(Math.ceil(bytesPerSecond / 10), 1);
    return Math.min(wanted, beforeStall, slice);
  }

  /** Waits where a stall or a rate says so. Call it before each piece. */
  async gate(): Promise<void> {
    const { clock, signal, stallAtBytes, bytesPerSecond } = this.#options;
    signal.throwIfAborted();
    if (stallAtBytes !== undefined && this.#position >= stallAtBytes) await this.#stall();
    if (bytesPerSecond === undefined) return;
    const earliest = this.#startedAt + (this.#position / bytesPerSecond) * 1000;
    const wait = earliest - clock.now();
    if (wait > 0) await sleep(clock, Math.ceil(wait), signal);
  }

  add(bytes: number): void {
    this.#position += bytes;
    const now = this.#options.clock.now();
    if (now - this.#reportedAt >= this.#options.reportEveryMs) this.#report(now);
  }

  async #stall(): Promise<never> {
    const { clock, signal, reportEveryMs, repeatReports } = this.#options;
    this.#report(clock.now());
    for (;;) {
      await sleep(clock, reportEveryMs, signal);
      if (repeatReports === true) this.#report(clock.now());
    }
  }

  #report(now: number): void {
    this.#reportedAt = now;
    this.#options.report(this.#position);
    if (this.#options.repeatReports === true) this.#options.report(this.#position);
  }
}
