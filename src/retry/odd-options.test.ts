import { describe, expect, it, vi } from "vitest";
import { isSlipwayError } from "../errors.js";
import { VirtualClock } from "../testing/index.js";
import {
  bootstrapSequence,
  BootstrapRetrier,
  decodeRetrySnapshot,
  exponentialBackoff,
  type ActivationEntry,
  type Backoff,
  type BootstrapRetrierOptions,
  type BootstrapSequenceOptions,
} from "./index.js";

const wrongOption = (field: string): Error =>
  expect.toSatisfy(
    (error) => isSlipwayError(error) && error.code === "INVALID_OPTION" && error.field === field,
  ) as Error;

describe("options that are none", () => {
  const signal = { aborted: false, addEventListener: () => undefined };
  it.each<[string, unknown]>([
    ["options", null],
    ["options", 5],
    ["options", []],
    ["clock", { clock: null }],
    ["clock", { clock: {} }],
    ["suspect", { suspect: 5 }],
    ["suspect", { suspect: "x" }],
    ["suspect", { suspect: null }],
    ["timers", { timers: 5 }],
    ["signal", { signal }],
    ["deadline", { deadline: { remainingMs: () => 1, signal } }],
    ["backoff", { backoff: { delayMs: () => 1, capMs: Number.NaN } }],
    ["backoff", { backoff: { delayMs: () => 1, capMs: "x" } }],
  ])("are refused by name: %s of %o", (field, options) => {
    expect(() => new BootstrapRetrier(options as BootstrapRetrierOptions)).toThrow(wrongOption(field));
  });

  const listens = { addEventListener: () => undefined, removeEventListener: () => undefined };
  it.each<[string, object, string]>([
    ["options", [], "an object"],
    ["backoff", { backoff: {} }, "a backoff, whose capMs is a number if it has one"],
    [
      "backoff",
      { backoff: { delayMs: () => 1, capMs: -1 } },
      "a backoff, whose capMs is a number if it has one",
    ],
    ["deadline", { deadline: { remainingMs: 5 } }, "an object with remainingMs() and signal"],
    ["signal", { signal: { ...listens } }, "an AbortSignal"],
    ["signal", { signal: { ...listens, aborted: "no" } }, "an AbortSignal"],
    ["suspect", { suspect: [] }, "an object"],
    ["suspect.attempts", { suspect: { attempts: 0 } }, "a safe integer, 1 or more"],
    ["suspect.forMs", { suspect: { forMs: -1 } }, "a safe integer, 0 or more"],
    ["maxAttempts", { maxAttempts: 0 }, "a safe integer, 1 or more"],
    ["attemptTimeoutMs", { attemptTimeoutMs: 0 }, "a safe integer, 1 or more"],
    ["hintCapMs", { hintCapMs: -1 }, "a safe integer, 0 or more"],
    ["retryNowSpacingMs", { retryNowSpacingMs: 0 }, "a safe integer, 1 or more"],
    ["historyLimit", { historyLimit: 1 }, "a safe integer, 2 or more"],
    ["classify", { classify: 5 }, "a function"],
    ["clock", { clock: { now: () => 5 } }, "a Clock with now() and schedule()"],
    ["timers", { timers: {} }, "a TimerQueue"],
    ["restore", { restore: 5 }, "a snapshot"],
  ])("say what is expected: %s of %o", (field, options, expected) => {
    expect(() => new BootstrapRetrier(options as BootstrapRetrierOptions)).toThrow(
      `Invalid retry options: ${field} must be ${expected}, got `,
    );
  });

  it("take the least that each may be", () => {
    const least = {
      backoff: { delayMs: () => 1, capMs: 0 },
      suspect: { attempts: 1, forMs: 0 },
      signal: { ...listens, aborted: false } as unknown as AbortSignal,
      maxAttempts: 1,
      attemptTimeoutMs: 1,
      hintCapMs: 0,
      retryNowSpacingMs: 1,
      historyLimit: 2,
      timers: { scheduleFor: () => undefined } as never,
    };
    expect(new BootstrapRetrier(least).status().state).toBe("idle");
  });

  it("are refused by name also where a field of theirs cannot be read", () => {
    const backoff = {
      delayMs: () => 1,
      get capMs(): number {
        throw new Error("mine");
      },
    };
    expect(() => new BootstrapRetrier({ backoff })).toThrow(wrongOption("backoff"));
  });

  it.each([null, 5, []])("are refused by name as a snapshot: %o", (restore) => {
    expect(() => new BootstrapRetrier({ restore: restore as never })).toThrow(
      expect.toSatisfy(
        (error) => isSlipwayError(error) && error.code === "INVALID_STATE" && error.field === "restore",
      ) as Error,
    );
  });

  it.each(["backoff", "deadline", "signal", "classify", "refresh", "clock", "timers", "random", "restore"])(
    "are shown in no message: %s",
    (field) => {
      for (const wrong of [{ key: "s3cret" }, "https://user:s3cret@host", ["s3cret"]])
        expect(() => new BootstrapRetrier({ [field]: wrong })).toThrow(
          expect.toSatisfy((error) => isSlipwayError(error) && !error.message.includes("s3cret")) as Error,
        );
    },
  );

  it.each([null, 5, []])("are refused by a backoff: %o", (options) => {
    expect(() => exponentialBackoff(options as object)).toThrow(wrongOption("options"));
  });
});

describe("a sequence", () => {
  const entries = new Map<string, ActivationEntry>();
  const swap = vi.fn((id: string, _: number | null, next: ActivationEntry | null) => {
    if (next === null) entries.delete(id);
    else entries.set(id, next);
    return true;
  });
  // What a Map answers where it has nothing is not `null`.
  const ledger = { read: (id: string) => entries.get(id) as ActivationEntry, compareAndSwap: swap };
  const good: BootstrapSequenceOptions = { instanceId: "i-1", steps: [], activate: () => 1, ledger };

  it.each<[string, object]>([
    ["activate", { activate: undefined }],
    ["ledger", { ledger: null }],
    ["ledger.read", { ledger: { compareAndSwap: swap } }],
    ["ledger.compareAndSwap", { ledger: { read: ledger.read } }],
    ["retrier", { retrier: null }],
    ["retrier", { retrier: 5 }],
    ["steps", { steps: undefined }],
    ["steps[0]", { steps: [null] }],
    ["steps[0].run", { steps: [{ name: "policy" }] }],
  ])("refuses a wrong %s before it claims anything", async (field, wrong) => {
    swap.mockClear();
    await expect(bootstrapSequence({ ...good, ...wrong })).rejects.toEqual(wrongOption(field));
    expect(swap).not.toHaveBeenCalled();
  });

  it("refuses options that are none", async () => {
    await expect(bootstrapSequence(null as never)).rejects.toEqual(wrongOption("options"));
  });

  it("reads what a Map does not have as no entry", async () => {
    expect(await bootstrapSequence(good)).toMatchObject({ outcome: "activated", started: true });
  });
});

describe("waits", () => {
  const refused = (): Error => Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const make = (clock: VirtualClock, options: BootstrapRetrierOptions): BootstrapRetrier =>
    new BootstrapRetrier({ clock, maxAttempts: 50, ...options });

  it.each([null, "", false, [], 5n, Symbol("x")])(
    "of a backoff that gives %o are one second",
    async (delay) => {
      const clock = new VirtualClock();
      const retrier = make(clock, {
        backoff: { delayMs: () => delay } as unknown as Backoff,
        maxAttempts: 2,
      });
      const run = retrier.run(() => Promise.reject(refused()));
      run.catch(() => undefined);
      await clock.advanceAsync(0);
      expect(retrier.snapshot().nextAttemptAt).toBe(clock.now() + 1000);
      await clock.advanceAsync(1000);
      await expect(run).rejects.toThrow();
    },
  );

  it.each([
    ["pushback 0", { pushbackMs: 0 }, 300_000],
    ["a cap of 0", { pushbackMs: 5 }, 0],
  ])("grow from the second zero in a row on: %s", async (_, hint, hintCapMs) => {
    const clock = new VirtualClock();
    const at: number[] = [];
    const controller = new AbortController();
    const retrier = make(clock, {
      backoff: exponentialBackoff({ jitter: "none" }),
      hintCapMs,
      signal: controller.signal,
      classify: () => ({ verdict: "transient", ...hint }),
    });
    const began = clock.now();
    const run = retrier.run(() => {
      at.push(clock.now() - began);
      throw refused();
    });
    run.catch(() => undefined);
    await clock.advanceAsync(7001);
    controller.abort("stop");
    await expect(run).rejects.toBe("stop");
    expect(at).toEqual([0, 1, 1001, 3001, 7001]);
  });

  it.each<[string, BootstrapRetrierOptions]>([
    ["backoff", { backoff: { delayMs: () => Number.POSITIVE_INFINITY } }],
    [
      "hint",
      {
        hintCapMs: Number.MAX_SAFE_INTEGER,
        classify: () => ({ verdict: "transient", retryAfterMs: Number.POSITIVE_INFINITY }),
      },
    ],
    [
      "pushback",
      {
        hintCapMs: Number.MAX_SAFE_INTEGER,
        classify: () => ({ verdict: "transient", pushbackMs: Number.POSITIVE_INFINITY }),
      },
    ],
  ])("end at an instant that a date can have, whatever the %s", async (_, options) => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const retrier = make(clock, { ...options, signal: controller.signal });
    const run = retrier.run(() => Promise.reject(refused()));
    run.catch(() => undefined);
    await clock.advanceAsync(0);
    const snapshot = retrier.snapshot();
    expect(snapshot.nextAttemptAt).toBe(8.64e15);
    expect(decodeRetrySnapshot(snapshot)).toEqual(snapshot);
    controller.abort("stop");
    await expect(run).rejects.toBe("stop");
  });
});
