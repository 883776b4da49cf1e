import fc from "fast-check";
import { describe, it } from "vitest";
import { seededRandom, VirtualClock } from "../testing/index.js";
import { BootstrapRetrier, decodeRetrySnapshot, type RetrySnapshot } from "./index.js";

const coded = (code: string): Error => Object.assign(new Error(code), { code });
const pushedBack = (): Error =>
  Object.assign(new Error("full"), { code: 14, metadata: { get: () => ["0"] } });

/** What an attempt, or a refresh, comes to. */
const attempts = {
  refused: () => Promise.reject(coded("ECONNREFUSED")),
  thrown: () => {
    throw coded("ETIMEDOUT");
  },
  odd: () => Promise.reject(new Error("odd")),
  pushedBack: () => Promise.reject(pushedBack()),
  unauthenticated: () => Promise.reject(Object.assign(new Error("401"), { status: 401 })),
  expired: () => Promise.reject(coded("CERT_HAS_EXPIRED")),
  hangs: () => new Promise(() => undefined),
  succeeds: () => "in",
};
const refreshes = { done: () => undefined, hangs: () => new Promise(() => undefined) };

const script = fc.record({
  seed: fc.nat(),
  outcomes: fc.oneof(
    fc.constant(["unauthenticated"] as const),
    fc.array(fc.constantFrom(...(Object.keys(attempts) as (keyof typeof attempts)[])), { minLength: 1 }),
  ),
  refresh: fc.constantFrom<keyof typeof refreshes>("done", "hangs"),
  historyLimit: fc.integer({ min: 2, max: 5 }),
  maxAttempts: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
  moves: fc.array(
    fc.record({
      // Often within one wait, where a restore must not count what the one before it has counted.
      ms: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 40_000 })),
      what: fc.constantFrom("look", "crash", "crash twice", "cancel", "set back", "retry now", "listen"),
    }),
    { minLength: 1, maxLength: 12 },
  ),
});

describe("every snapshot that a run writes", () => {
  it("is taken again, whatever happened to the run before", async () => {
    await fc.assert(
      fc.asyncProperty(script, async ({ seed, outcomes, refresh, historyLimit, maxAttempts, moves }) => {
        const clock = new VirtualClock();
        const random = seededRandom(seed);
        let controller = new AbortController();
        let turn = 0;
        const begin = (restore?: RetrySnapshot): BootstrapRetrier => {
          controller = new AbortController();
          const { signal } = controller;
          const limits = { historyLimit, maxAttempts, random, signal, restore };
          const retrier = new BootstrapRetrier({ clock, refresh: refreshes[refresh], ...limits });
          retrier
            .run(() => attempts[outcomes[(turn += 1) % outcomes.length] ?? "refused"]())
            .catch(() => undefined);
          return retrier;
        };
        const stored = (from: BootstrapRetrier): RetrySnapshot =>
          decodeRetrySnapshot(JSON.parse(JSON.stringify(from.snapshot())));
        let retrier = begin();
        for (const { ms, what } of moves) {
          await clock.advanceAsync(ms);
          if (what === "cancel") controller.abort("stop");
          if (what === "set back") clock.stepWall(-3_600_000);
          if (what === "retry now") retrier.retryNow();
          if (what === "listen") retrier.once("failure", () => controller.abort("stop"));
          await clock.advanceAsync(0);
          const snapshot = stored(retrier);
          if (what === "look" || what === "retry now" || what === "listen") continue;
          if (what === "crash twice") stored(new BootstrapRetrier({ clock, restore: snapshot }));
          clock.restart(1);
          retrier = begin(snapshot);
          stored(retrier);
        }
        controller.abort("over");
        await clock.advanceAsync(0);
        stored(retrier);
      }),
    );
  });
});
