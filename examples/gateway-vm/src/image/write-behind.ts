/** So much may be on its way to the disk at a time: a second's worth of a slow one. */
const WINDOW_BYTES = 64_000_000;

/**
 * Keeps the disk close behind what is written to it. Left to itself a system takes gigabytes into its memory and writes
 * them down in one go at the end, during which nobody hears of anything: a slow disk would pass for one that stands
 * still. With this what is written waits while more than two windows of it are on their way, so that the bytes that are
 * told are those that the disk took, and the last flush has little to do.
 */
export class WriteBehind {
  readonly #flush: () => Promise<void>;
  readonly #windowBytes: number;
  #passed = 0;
  #flushing: Promise<void> = Promise.resolve();

  /** @param flush - Resolves once all that was written before the call is on the disk. */
  constructor(flush: () => Promise<void>, windowBytes: number = WINDOW_BYTES) {
    this.#flush = flush;
    this.#windowBytes = windowBytes;
  }

  /** Counts what was written. Resolves when there may be more; rejects when the disk has failed. */
  async passed(bytes: number): Promise<void> {
    this.#passed += bytes;
    if (this.#passed >= this.#windowBytes) await this.#begin();
  }

  /** Resolves when everything is on the disk; rejects when the disk has failed, or the signal aborts. */
  finish(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      // A disk that hangs is given up as it is while something is written to it.
      const giveUp = (): void => reject(signal.reason as Error);
      if (signal.aborted) {
        giveUp();
        return;
      }
      signal.addEventListener("abort", giveUp, { once: true });
      this.#finish()
        .then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", giveUp));
    });
  }

  async #finish(): Promise<void> {
    await this.#begin();
    await this.#flushing;
  }

  /** One flush at a time: the one before has to be over. */
  async #begin(): Promise<void> {
    this.#passed = 0;
    await this.#flushing;
    this.#flushing = this.#flush();
    // Whoever waits for it hears of its failure.
    this.#flushing.catch(() => undefined);
  }
}
