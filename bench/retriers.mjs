/**
 * The same retry with each library: `attempt()` once and again until it succeeds, waiting `waitMs` in between. Every
 * policy is built once where the library lets it be.
 */
import asyncWait from "node:timers/promises";
import pRetry from "p-retry";
import { BootstrapRetrier, exponentialBackoff, retryBootstrap } from "slipway/retry";
import { loadPeer } from "./peers.mjs";

const ATTEMPTS = 10;

/** The least: no signal, no classification, no limit but the count. */
const byHand = (waitMs) => async (work) => {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work();
    } catch (error) {
      if (attempt > ATTEMPTS) throw error;
      await asyncWait.setTimeout(waitMs);
    }
};

export async function retriers(folder, waitMs) {
  const backoff = exponentialBackoff({ initialMs: waitMs, capMs: waitMs, jitter: "none" });
  const [cockatiel, asyncRetry, exponential, effect] = await Promise.all(
    ["cockatiel", "async-retry", "exponential-backoff", "effect"].map((name) => loadPeer(folder, name)),
  );
  const policy = cockatiel.retry(cockatiel.handleAll, {
    maxAttempts: ATTEMPTS,
    backoff: new cockatiel.ConstantBackoff(waitMs),
  });
  const { Effect, Schedule } = effect;
  const schedule = Schedule.spaced(waitMs);
  const asIs = (error) => error;
  return {
    "by hand": { run: byHand(waitMs) },
    slipway: { run: (work, signal) => retryBootstrap(work, { backoff, signal }), abortable: true },
    BootstrapRetrier: {
      run: (work, signal) => new BootstrapRetrier({ backoff, signal }).run(work),
      abortable: true,
    },
    "p-retry": {
      run: (work, signal) =>
        pRetry(work, { retries: ATTEMPTS, minTimeout: waitMs, factor: 1, ...(signal && { signal }) }),
      abortable: true,
    },
    // It looks at a signal when a wait is over: one that waits for an hour cannot be aborted.
    cockatiel: { run: (work, signal) => policy.execute(work, signal) },
    "async-retry": {
      run: (work) =>
        asyncRetry.default(work, { retries: ATTEMPTS, minTimeout: waitMs, factor: 1, randomize: false }),
    },
    "exponential-backoff": {
      run: (work) =>
        exponential.backOff(work, { numOfAttempts: ATTEMPTS, startingDelay: waitMs, timeMultiple: 1 }),
    },
    Effect: {
      run: (work, signal) =>
        Effect.runPromise(
          Effect.retry(Effect.tryPromise({ try: async () => work(), catch: asIs }), schedule),
          signal && { signal },
        ),
      abortable: true,
    },
  };
}
