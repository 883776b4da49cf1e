import type { Clock } from "slipway";

/** Waits on the clock that everything else goes by; rejects with the signal's reason when it aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const alarm = clock.schedule(clock.now() + ms, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    const abort = (): void => {
      alarm[Symbol.dispose]();
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", abort, { once: true });
  });
}
