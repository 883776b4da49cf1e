import { beforeEach, describe, expect, it, vi } from "vitest";
import { backoff, caught, expectNoRejections, refused } from "../../test/retry/failures.js";
import { isSlipwayError } from "../errors.js";
import { scriptedRandom, VirtualClock } from "../testing/index.js";
import {
  BootstrapDeadlineError,
  BootstrapExhaustedError,
  BootstrapRetrier,
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

describe("attempts", () => {
  it("are made at most maxAttempts times", async () => {
    const run = caught(make({ maxAttempts: 3 }).run(() => Promise.reject(refused())));
    await clock.advanceAsync(10_000);
    const error = await run;
    expect(error).toBeInstanceOf(BootstrapExhaustedError);
    expect(error).toMatchObject({
      code: "BOOTSTRAP_EXHAUSTED",
      maxAttempts: 3,
      cause: { code: "ECONNREFUSED" },
    });
    expect((error as BootstrapExhaustedError).attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it("have a macrotask between them even where the wait is nothing", async () => {
    let calls = 0;
    const controller = new AbortController();
    const run = caught(
      retryBootstrap(
        () => {
          calls += 1;
          throw refused();
        },
        { signal: controller.signal, random: scriptedRandom([0]) },
      ),
    );
    setImmediate(() => controller.abort("stop"));
    expect(await run).toBe("stop");
    expect(calls).toBeLessThan(5);
  });

  it("that throw anything are survived", async () => {
    const thrown: unknown[] = [null, undefined, "text", 0, Symbol("s"), Object.create(null), refused()];
    const retrier = make();
    const run = retrier.run(({ attempt }) => {
      if (attempt <= thrown.length) throw thrown[attempt - 1];
      return "done";
    });
    await clock.advanceAsync(200_000);
    expect(await run).toBe("done");
    expect(retrier.status().history.map(({ error }) => error)).toEqual(thrown);
  });

  it("that return hostile thenables are survived", async () => {
    const thenables = [
      { then: (_: unknown, reject: (error: unknown) => void) => reject(refused()) },
      {
        get then(): never {
          throw refused();
        },
      },
      {
        then: (resolve: (value: unknown) => void) => {
          resolve("first");
          resolve("second");
        },
      },
    ];
    const retrier = make();
    const run = retrier.run(({ attempt }) => thenables[attempt - 1] as never);
    await clock.advanceAsync(10_000);
    expect(await run).toBe("first");
    expect(retrier.status().attempt).toBe(3);
  });

  it("get their own signal, which aborts when they take too long, and their late value is handed over", async () => {
    const late: unknown[] = [];
    const reasons: unknown[] = [];
    const retrier = make({ attemptTimeoutMs: 100, onLateResult: (value) => late.push(value) });
    const run = retrier.run(({ attempt, signal }) => {
      if (attempt === 2) return "second";
      signal.addEventListener("abort", () => reasons.push((signal.reason as Error).name));
      return new Promise((resolve) => clock.schedule(clock.now() + 500, () => resolve("first")));
    });
    await clock.advanceAsync(2000);
    expect(await run).toBe("second");
    expect([late, reasons]).toEqual([["first"], ["TimeoutError"]]);
    expect(retrier.status().firstError).toMatchObject({ code: "ATTEMPT_TIMEOUT", verdict: "transient" });
  });

  it("know their number and the time that is left", async () => {
    const controller = new AbortController();
    const end = clock.now() + 10_000;
    const seen: unknown[] = [];
    const deadline = { signal: controller.signal, remainingMs: () => end - clock.now() };
    const run = make({ deadline }).run((context) => {
      seen.push([context.attempt, context.remainingMs]);
      if (context.attempt < 3) throw refused();
    });
    await clock.advanceAsync(5000);
    await run;
    expect(seen).toEqual([
      [1, 10_000],
      [2, 9000],
      [3, 7000],
    ]);
  });
});

describe("the deadline", () => {
  it("that is over already allows no attempt", async () => {
    const operation = vi.fn();
    const never = new AbortController().signal;
    for (const deadline of [
      { signal: AbortSignal.abort("expired"), remainingMs: () => 1000 },
      { signal: never, remainingMs: () => 0 },
      { signal: never, remainingMs: () => Number.NaN },
      {
        signal: never,
        remainingMs: (): number => {
          throw new Error("broken");
        },
      },
    ])
      expect(await caught(make({ deadline }).run(operation))).toBeInstanceOf(BootstrapDeadlineError);
    expect(operation).not.toHaveBeenCalled();
  });

  it("that is unlimited, or renewed, limits nothing", async () => {
    let end = clock.now() + 1500;
    const { signal } = new AbortController();
    const retrier = make({ deadline: { signal, remainingMs: () => end - clock.now() } });
    const run = retrier.run(
      () => new Promise((resolve) => clock.schedule(clock.now() + 3000, () => resolve("V"))),
    );
    await clock.advanceAsync(1000);
    end = Number.POSITIVE_INFINITY;
    await clock.advanceAsync(3000);
    expect(await run).toBe("V");
  });

  it("loses against the caller's own signal when both are one", async () => {
    const controller = new AbortController();
    const deadline = { signal: controller.signal, remainingMs: () => 1e9 };
    const run = caught(make({ deadline, signal: controller.signal }).run(() => new Promise(() => undefined)));
    controller.abort("stop");
    expect(await run).toBe("stop");
  });
});

describe("use", () => {
  it("is one run at a time, and may begin anew after the end", async () => {
    const retrier = make();
    const first = retrier.run(
      () => new Promise<string>((resolve) => clock.schedule(clock.now() + 5, () => resolve("a"))),
    );
    expect(await caught(retrier.run(() => "b"))).toMatchObject({ code: "INVALID_STATE" });
    await clock.advanceAsync(10);
    expect(await first).toBe("a");
    expect(await retrier.run(() => "c")).toBe("c");
    expect(retrier.status().attempt).toBe(1);
    expect(make().retryNow()).toBe(false);
  });

  it.each([
    ["maxAttempts", { maxAttempts: 0 }],
    ["attemptTimeoutMs", { attemptTimeoutMs: Number.POSITIVE_INFINITY }],
    ["hintCapMs", { hintCapMs: -1 }],
    ["suspect.attempts", { suspect: { attempts: 0 } }],
    ["suspect.forMs", { suspect: { forMs: 0.5 } }],
    ["historyLimit", { historyLimit: 1 }],
    ["backoff", { backoff: {} as never }],
    ["deadline", { deadline: { remainingMs: () => 1 } as never }],
    ["signal", { signal: {} as never }],
    ["refresh", { refresh: "token" as never }],
  ])("refuses a wrong %s", (field, options) => {
    expect(() => make(options)).toThrow(
      expect.toSatisfy(
        (error) => isSlipwayError(error) && error.code === "INVALID_OPTION" && error.field === field,
      ),
    );
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])("survives a backoff that answers %d", async (delay) => {
    const controller = new AbortController();
    const run = caught(
      make({ backoff: { delayMs: () => delay }, signal: controller.signal }).run(() =>
        Promise.reject(refused()),
      ),
    );
    await clock.advanceAsync(500);
    expect(clock.timers).toBe(1);
    controller.abort("stop");
    expect(await run).toBe("stop");
  });

  it("ends when a backoff throws", async () => {
    const mistake = new Error("mistake");
    const delayMs = (): never => {
      throw mistake;
    };
    expect(await caught(make({ backoff: { delayMs } }).run(() => Promise.reject(refused())))).toBe(mistake);
    expect(clock.timers).toBe(0);
  });
});
