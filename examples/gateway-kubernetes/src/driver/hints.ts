import type { Clock } from "slipway";
import { onAbort } from "../api/on-abort.js";

/** Wakes whoever waits for news of a sandbox: by the watch when there is one, by time in any case. */
export class Hints {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tell(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** Resolves with the next news of the sandbox or after `ms`; rejects with the signal's reason when it aborts. */
  next(id: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const waiters = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiters);
      const settle = (): void => {
        alarm[Symbol.dispose]();
        aborted[Symbol.dispose]();
        waiters.delete(wake);
        if (waiters.size === 0 && this.#waiting.get(id) === waiters) this.#waiting.delete(id);
      };
      const wake = (): void => {
        settle();
        resolve();
      };
      const aborted = onAbort(signal, () => {
        settle();
        reject(signal.reason as Error);
      });
      const alarm = this.#clock.schedule(this.#clock.now() + ms, wake);
      waiters.add(wake);
    });
  }
}
