import type { Clock } from "slipway";
import { ApiUnreachableError } from "../api/api-error.js";

export interface MirrorWaitOptions {
  readonly clock: Clock;
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal;
  /** Whether nothing is waited for any more: the gateway ends. */
  readonly isEnding: () => boolean;
  /** Why the records were last not followed. */
  readonly lastFailure: () => unknown;
}

/** How long a listing waits for a view of the records that is current. */
const CURRENT_WITHIN_MS = 30_000;

/** Whoever waits for the mirror to be as it has to be. */
export class MirrorWait {
  readonly #options: MirrorWaitOptions;
  readonly #waiting = new Set<() => void>();

  constructor(options: MirrorWaitOptions) {
    this.#options = options;
  }

  /** Something has changed: everybody looks again. */
  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves once the mirror is as it has to be. */
  async until(isGood: () => boolean): Promise<void> {
    const { clock, closing, isEnding } = this.#options;
    const until = clock.now() + CURRENT_WITHIN_MS;
    while (!isGood()) {
      closing.throwIfAborted();
      if (isEnding() || clock.now() >= until) throw this.#notFollowed();
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          alarm[Symbol.dispose]();
          this.#waiting.delete(wake);
          resolve();
        };
        const alarm = clock.schedule(until, wake);
        this.#waiting.add(wake);
      });
    }
  }

  #notFollowed(): Error {
    const cause = this.#options.lastFailure();
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    return new ApiUnreachableError(`The records cannot be followed at present${why}`, { cause });
  }
}
