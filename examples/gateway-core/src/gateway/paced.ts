import { exponentialBackoff, type Clock } from "slipway";
import { sleep } from "../sleep.js";
import { NoSuchSandboxError } from "./sandbox-records.js";

const backoff = exponentialBackoff({ initialMs: 1000, factor: 2, capMs: 30_000, jitter: "none" });

export interface PacedOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Does one thing; true asks to be called again at once. */
  readonly step: () => Promise<boolean>;
  readonly onError: (error: unknown) => void;
  /** Called when nothing is left to do and nothing is waited for. */
  readonly onIdle: () => void;
}

/** Runs steps one after another while there is something to do, and ever more rarely while they fail. */
export class Paced {
  readonly #options: PacedOptions;
  #running: Promise<void> | null = null;
  #again = false;
  /** A retry is waited for. What wakes the worker meanwhile changes nothing about what failed. */
  #retrying = false;
  #failures = 0;

  constructor(options: PacedOptions) {
    this.#options = options;
  }

  /** Looks whether there is something to do, unless what failed is waited for. */
  wake(): void {
    if (!this.#retrying) this.work();
  }

  /** Looks in any case: something new is known. */
  work(): void {
    if (this.#options.signal.aborted) return;
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** Looks again after a while, each time a longer one until a step gets somewhere. */
  later(): void {
    const { clock, signal } = this.#options;
    if (this.#retrying || signal.aborted) return;
    this.#retrying = true;
    this.#failures += 1;
    sleep(clock, backoff.delayMs(this.#failures), signal).then(
      () => {
        this.#retrying = false;
        this.wake();
      },
      () => undefined,
    );
  }

  async ended(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal, step, onError, onIdle } = this.#options;
    try {
      while (this.#again && !signal.aborted) {
        this.#again = false;
        if (await step()) {
          this.#again = true;
          this.#failures = 0;
        }
      }
    } catch (error) {
      if (!(error instanceof NoSuchSandboxError) && !signal.aborted) {
        onError(error);
        this.later();
      }
    }
    this.#running = null;
    if (this.#again) this.wake();
    else if (!this.#retrying) onIdle();
  }
}
