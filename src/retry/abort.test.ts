import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { backoff, caught, expectNoRejections, macrotask, refused } from "../../test/retry/failures.js";
import { seededRandom, VirtualClock } from "../testing/index.js";
import {
  BootstrapRetrier,
  exponentialBackoff,
  retryBootstrap,
  type BootstrapRetrierOptions,
} from "./index.js";

expectNoRejections();

let clock: VirtualClock;

beforeEach(() => {
  clock = new VirtualClock();
});

const make = (options: BootstrapRetrierOptions = {}): BootstrapRetrier =>
  new BootstrapRetrier({ clock, backoff, ...options });

/** An abort signal that counts its listeners. */
function counted(): { controller: AbortController; listeners: () => number; most: () => number } {
  const controller = new AbortController();
  const live = new Set<unknown>();
  let most = 0;
  const { signal } = controller;
  const add = vi.spyOn(signal, "addEventListener").mockImplementation((type, listener, options) => {
    live.add(listener);
    most = Math.max(most, live.size);
    EventTarget.prototype.addEventListener.call(signal, type, listener, options);
  });
  vi.spyOn(signal, "removeEventListener").mockImplementation((type, listener) => {
    live.delete(listener);
    EventTarget.prototype.removeEventListener.call(signal, type, listener);
  });
  expect(add).toBeDefined();
  return { controller, listeners: () => live.size, most: () => most };
}

describe("abort", () => {
  const reasons = fc.oneof(
    fc.constantFrom<unknown>(null, 0, "stop", Symbol("reason"), new TypeError("t")),
    fc.object(),
  );

  it("at any instant settles within one macrotask, by identity, and leaves nothing behind", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 70_000 }),
        reasons,
        fc.constantFrom("throws", "rejects", "hangs", "slow"),
        fc.boolean(),
        async (at, reason, kind, readsSignal) => {
          clock = new VirtualClock();
          const { controller, listeners } = counted();
          const retrier = make({
            signal: controller.signal,
            random: seededRandom(at),
            backoff: exponentialBackoff(),
          });
          const run = retrier.run(({ signal }) => {
            if (readsSignal) signal.addEventListener("abort", () => undefined);
            if (kind === "throws") throw refused();
            if (kind === "rejects") return Promise.reject(refused());
            return new Promise((_, reject) => {
              if (kind === "slow") clock.schedule(clock.now() + 700, () => reject(refused()));
            });
          });
          let settled: { error: unknown } | undefined;
          run.catch((error: unknown) => (settled = { error }));
          await clock.advanceAsync(at);
          controller.abort(reason);
          await macrotask();
          expect(settled).toBeDefined();
          expect(settled!.error).toBe(controller.signal.reason);
          expect(settled!.error).toBe(reason);
          // What is left may only be the slow operation's own timer.
          await clock.advanceAsync(1000);
          expect([clock.timers, listeners()]).toEqual([0, 0]);
          expect(retrier.status().state).toBe("cancelled");
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(["attempt", "failure", "waiting", "change"] as const)(
    "in a listener of %s is an abort like any other",
    async (event) => {
      const { controller, listeners } = counted();
      const retrier = make({ signal: controller.signal });
      const operation = vi.fn(() => Promise.reject(refused()));
      retrier.on(event, () => controller.abort("stop"));
      const run = caught(retrier.run(operation));
      await clock.advanceAsync(0);
      expect(await run).toBe("stop");
      expect(operation.mock.calls.length).toBeLessThanOrEqual(1);
      expect([clock.timers, listeners()]).toEqual([0, 0]);
    },
  );

  it("by the operation itself, before it returns, is an abort like any other", async () => {
    for (const result of ["value", Promise.resolve("value"), new Promise(() => undefined)]) {
      const controller = new AbortController();
      const late: unknown[] = [];
      const retrier = make({ signal: controller.signal, onLateResult: (value) => late.push(value) });
      const run = caught(
        retrier.run(() => {
          controller.abort("stop");
          return result;
        }),
      );
      await clock.advanceAsync(0);
      expect(await run).toBe("stop");
      expect(late).toEqual(result instanceof Promise && late.length === 0 ? [] : ["value"]);
    }
  });

  it("of one signal by 100 000 retriers takes one listener and leaves none", async () => {
    const { controller, listeners, most } = counted();
    const runs = Array.from({ length: 100_000 }, (_, index) =>
      caught(
        retryBootstrap(() => (index % 2 === 0 ? new Promise(() => undefined) : Promise.reject(refused())), {
          clock,
          signal: controller.signal,
        }),
      ),
    );
    await clock.advanceAsync(0);
    expect([most(), clock.timers]).toEqual([1, 1]);
    controller.abort("stop");
    expect(new Set(await Promise.all(runs))).toEqual(new Set(["stop"]));
    expect([listeners(), clock.timers]).toEqual([0, 0]);
  }, 60_000);

  it("leaves no listener after success either", async () => {
    const { controller, listeners } = counted();
    await Promise.all(
      Array.from({ length: 50 }, () =>
        retryBootstrap(() => Promise.resolve(1), { clock, signal: controller.signal }),
      ),
    );
    expect([listeners(), clock.timers]).toEqual([0, 0]);
  });
});
