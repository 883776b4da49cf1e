import type { Clock } from "slipway";

/** A few reports a second keep a line on a terminal lively; each one is a committed write. */
const EVERY_MS = 250;

/**
 * Tells of bytes as they pass, at a pace: the first count at once, then the latest of each interval. When they stop, the
 * count at which they did is told as well: it is what a stall is reported with.
 */
export class ByteReports {
  readonly #clock: Clock;
  readonly #tell: (bytes: number) => void;
  #bytes = 0;
  #nextAt = Number.NEGATIVE_INFINITY;
  #alarm: Disposable | null = null;
  #told = -1;

  constructor(clock: Clock, tell: (bytes: number) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** The latest count. */
  get bytes(): number {
    return this.#bytes;
  }

  see(bytes: number): void {
    this.#bytes = bytes;
    if (this.#clock.now() >= this.#nextAt) this.flush();
    else this.#alarm ??= this.#clock.schedule(this.#nextAt, this.flush);
  }

  /** Tells now what is held back, and then what comes later. */
  readonly flush = (): void => {
    this.close();
    if (this.#bytes <= this.#told) return;
    this.#told = this.#bytes;
    this.#nextAt = this.#clock.now() + EVERY_MS;
    this.#tell(this.#bytes);
  };

  /** Forgets what is held back. */
  close(): void {
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = null;
  }
}
