import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { VirtualClock } from "../testing/index.js";
import {
  BootstrapPermanentError,
  BootstrapRetrier,
  permanent,
  type BootstrapRetrierOptions,
} from "./index.js";

const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const caught = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );

const unhandled = vi.fn();
beforeEach(() => {
  unhandled.mockClear();
  process.on("unhandledRejection", unhandled);
});
afterEach(() => {
  process.off("unhandledRejection", unhandled);
});

describe("an onHookError that rejects", () => {
  // Not a mock: that would handle the rejection itself.
  let told = 0;
  const onHookError = (): unknown => {
    told += 1;
    return Promise.reject(new Error("the handler's own"));
  };
  beforeEach(() => {
    told = 0;
  });

  it("is told of a listener and leaves no rejection behind", async () => {
    const retrier = new BootstrapRetrier({ clock: new VirtualClock(), onHookError });
    retrier.on("attempt", () => {
      throw new Error("a listener's");
    });
    expect(await retrier.run(() => "value")).toBe("value");
    await macrotask();
    expect([told, unhandled.mock.calls]).toEqual([1, []]);
  });

  it("is told of a classifier and leaves no rejection behind", async () => {
    const classify = (): never => {
      throw new Error("a classifier's");
    };
    const retrier = new BootstrapRetrier({ clock: new VirtualClock(), onHookError, classify });
    const run = retrier.run(() => {
      throw permanent(new Error("no"));
    });
    expect(await caught(run)).toBeInstanceOf(BootstrapPermanentError);
    await macrotask();
    expect([told, unhandled.mock.calls]).toEqual([1, []]);
  });

  it("is told of a late result's hook and leaves no rejection behind", async () => {
    const controller = new AbortController();
    const onLateResult = (): Promise<never> => Promise.reject(new Error("a late result's"));
    const { signal } = controller;
    const retrier = new BootstrapRetrier({ clock: new VirtualClock(), onHookError, onLateResult, signal });
    const run = retrier.run(() => {
      controller.abort("stop");
      return "value";
    });
    expect(await caught(run)).toBe("stop");
    await macrotask();
    expect([told, unhandled.mock.calls]).toEqual([1, []]);
  });
});

describe("an abort in a hook that is asked what follows a failure", () => {
  const aborting = (controller: AbortController): Record<string, Partial<BootstrapRetrierOptions>> => {
    const abortAnd =
      <Answer>(answer: Answer) =>
      (): Answer => {
        controller.abort("stop");
        return answer;
      };
    return {
      classify: { classify: abortAnd(undefined) },
      backoff: { backoff: { delayMs: abortAnd(1000) } },
      random: { random: abortAnd(0.5) },
      "remainingMs of the deadline": {
        deadline: { signal: new AbortController().signal, remainingMs: abortAnd(1e9) },
      },
    };
  };

  it.each(["classify", "backoff", "random", "remainingMs of the deadline"])(
    "(%s) ends the run, and nothing is told after its end",
    async (hook) => {
      const controller = new AbortController();
      const { signal } = controller;
      const told: string[] = [];
      const clock = new VirtualClock();
      const retrier = new BootstrapRetrier({ clock, signal, ...aborting(controller)[hook] });
      for (const name of ["attempt", "failure", "waiting", "settled"] as const)
        retrier.on(name, () => told.push(name));
      expect(await caught(retrier.run(() => Promise.reject(new Error("refused"))))).toBe("stop");
      expect(told.at(-1)).toBe("settled");
      expect(told).not.toContain("failure");
      expect(retrier.status().state).toBe("cancelled");
      expect(clock.timers).toBe(0);
    },
  );
});
