import type { Clock } from "slipway";
import { setMaxListeners } from "node:events";

export interface CallLimits {
  readonly clock: Clock;
  readonly until: number;
  /** Ends the call early, for instance when the gateway shuts down. */
  readonly signal: AbortSignal;
}

/**
 * Runs a driver call under a limit of its own. A call that does not listen to its signal is not waited for: a driver
 * that hangs must not hold the sandbox for ever.
 */
export async function limited<T>(limits: CallLimits, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => controller.abort(limits.signal.reason);
  if (limits.signal.aborted) stop();
  // As many calls wait on one signal as there are sandboxes: that is no leak.
  setMaxListeners(0, limits.signal);
  limits.signal.addEventListener("abort", stop, { once: true });
  const alarm = limits.clock.schedule(limits.until, () =>
    controller.abort(new Error("the driver did not finish in time")),
  );
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason as Error), {
      once: true,
    });
  });
  aborted.catch(() => undefined);
  try {
    controller.signal.throwIfAborted();
    return await Promise.race([call(controller.signal), aborted]);
  } finally {
    alarm[Symbol.dispose]();
    limits.signal.removeEventListener("abort", stop);
  }
}

/** The same for a call without a result: its failure, or `null`. */
export async function limitedCall(
  limits: CallLimits,
  call: (signal: AbortSignal) => Promise<void>,
): Promise<Error | null> {
  try {
    await limited(limits, call);
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
