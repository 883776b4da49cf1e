import type { Clock } from "slipway";
import { onAbort } from "./on-abort.js";

/** Waits on the clock that everything else goes by; rejects with the signal's reason when it aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const aborted = onAbort(signal, () => {
      alarm[Symbol.dispose]();
      reject(signal.reason as Error);
    });
    const alarm = clock.schedule(clock.now() + ms, () => {
      aborted[Symbol.dispose]();
      resolve();
    });
  });
}
