import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isSlipwayError, type SlipwayError } from "../errors.js";
import { scriptedRandom, seededRandom, VirtualClock } from "../testing/index.js";
import {
  BootstrapDeadlineError,
  BootstrapExhaustedError,
  BootstrapPermanentError,
  BootstrapRetrier,
  exponentialBackoff,
  MarkedError,
  permanent,
  retryBootstrap,
  transient,
  type BootstrapRetrierOptions,
  type RetrySnapshot,
} from "./index.js";

const refused = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const unauthenticated = (): Error => Object.assign(new Error("401"), { status: 401 });
const backoff = exponentialBackoff({ jitter: "none" });
const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const caught = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );

let clock: VirtualClock;
const unhandled = vi.fn();
beforeEach(() => {
  clock = new VirtualClock();
  process.on("unhandledRejection", unhandled);
});
afterEach(async () => {
  await macrotask();
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
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

describe("refresh", () => {
  it("is made once per run, after an authentication failure only", async () => {
    const refresh = vi.fn(() => Promise.resolve());
    const retrier = make({ refresh });
    const run = caught(
      retrier.run(({ attempt }) => {
        if (attempt === 1) throw refused();
        throw unauthenticated();
      }),
    );
    await clock.advanceAsync(60_000);
    expect(await run).toBeInstanceOf(BootstrapPermanentError);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(retrier.status()).toMatchObject({ attempt: 3, counts: { permanent: 2, transient: 1 } });
  });

  it("heals, and goes on at once", async () => {
    const retrier = make({ refresh: ({ error }) => expect(error).toEqual(unauthenticated()) });
    const run = retrier.run(({ attempt }) => {
      if (attempt === 1) throw unauthenticated();
      return attempt;
    });
    await clock.advanceAsync(1);
    expect(await run).toBe(2);
  });

  it.each([
    ["rejects", () => Promise.reject(new Error("no token"))],
    [
      "throws",
      () => {
        throw new Error("no token");
      },
    ],
    ["hangs", () => new Promise(() => undefined)],
  ])("that %s leaves the failure permanent", async (_name, refresh) => {
    const run = caught(make({ refresh }).run(() => Promise.reject(unauthenticated())));
    await clock.advanceAsync(20_000);
    const error = (await run) as BootstrapPermanentError;
    expect(error).toBeInstanceOf(BootstrapPermanentError);
    expect(error.refreshError).toBeInstanceOf(Error);
    expect(error.cause).toEqual(unauthenticated());
    expect(clock.timers).toBe(0);
  });

  it("is aborted with the run", async () => {
    const controller = new AbortController();
    const aborted = vi.fn();
    const refresh = ({ signal }: { signal: AbortSignal }): Promise<never> => {
      signal.addEventListener("abort", aborted);
      return new Promise(() => undefined);
    };
    const run = caught(
      make({ refresh, signal: controller.signal }).run(() => Promise.reject(unauthenticated())),
    );
    await clock.advanceAsync(10);
    controller.abort(null);
    expect(await run).toBeNull();
    expect(aborted).toHaveBeenCalledTimes(1);
    expect(clock.timers).toBe(0);
  });
});

describe("diagnosis", () => {
  it("keeps the first and the latest failures, within the limit", async () => {
    const retrier = make({ historyLimit: 4 });
    retrier
      .run(({ attempt }) => Promise.reject(Object.assign(refused(), { message: `no ${attempt}` })))
      .catch(() => undefined);
    await clock.advanceAsync(200_000);
    const { history, omitted, attempt, firstError, lastError } = retrier.status();
    expect(history.map((failure) => failure.attempt)).toEqual([1, attempt - 2, attempt - 1, attempt]);
    expect(omitted).toBe(attempt - 4);
    expect([firstError?.message, lastError?.message]).toEqual(["no 1", `no ${attempt}`]);
  });

  it("says one sentence for every state, and renders a condition", async () => {
    const controller = new AbortController();
    const retrier = make({ signal: controller.signal });
    const sentences = [retrier.status().sentence];
    retrier.on("change", ({ sentence }) => sentences.push(sentence));
    expect(retrier.toCondition()).toMatchObject({
      type: "Bootstrapped",
      status: "False",
      reason: "BootstrapPending",
    });
    const run = caught(retrier.run(() => Promise.reject(refused())));
    await clock.advanceAsync(0);
    expect(retrier.toCondition("Ready")).toEqual({
      type: "Ready",
      status: "False",
      reason: "BootstrapInProgress",
      message:
        "Bootstrap waits 1 s for attempt 2 after 0 s; last failure ECONNREFUSED (transient): connect ECONNREFUSED.",
      lastTransitionTime: "2027-01-15T08:00:00Z",
      cause: { reason: "ECONNREFUSED", message: expect.stringContaining("Nobody listens yet") as string },
    });
    controller.abort();
    await run;
    expect(sentences).toEqual([
      "Bootstrap has not started.",
      "Bootstrap attempt 1 is under way after 0 s.",
      expect.stringContaining("Bootstrap waits 1 s for attempt 2"),
      expect.stringContaining("Bootstrap was cancelled after 1 attempt and 0 s"),
    ]);
    expect(retrier.toCondition().reason).toBe("BootstrapCancelled");
    const good = make();
    await good.run(() => 1);
    expect(good.toCondition()).toMatchObject({ status: "True", reason: "BootstrapSucceeded" });
    const bad = make();
    await caught(bad.run(() => Promise.reject(permanent(refused()))));
    expect(bad.toCondition()).toMatchObject({ status: "False", reason: "BootstrapFailed" });
    expect(bad.status()).toMatchObject({
      outcome: "permanent",
      sentence: expect.stringContaining("permanent") as string,
    });
  });

  it("survives hooks and listeners that throw or reject", async () => {
    const reported: unknown[] = [];
    const bad = (): never => {
      throw new Error("bad hook");
    };
    const retrier = make({
      classify: bad,
      onLateResult: () => Promise.reject(new Error("bad hook")),
      onHookError: (error) => {
        reported.push(error);
        throw error;
      },
      attemptTimeoutMs: 10,
    });
    for (const event of ["attempt", "failure", "waiting", "settled", "change"] as const) {
      retrier.on(event, bad);
      retrier.once(event, () => Promise.reject(new Error("bad listener")) as never);
    }
    const run = retrier.run(({ attempt }) => {
      if (attempt === 2) throw refused();
      if (attempt === 3) return "done";
      return new Promise((resolve) => clock.schedule(clock.now() + 500, () => resolve("late")));
    });
    await clock.advanceAsync(10_000);
    expect(await run).toBe("done");
    expect(reported.length).toBeGreaterThan(5);
  });

  it.each([Number.NaN, -5, Number.POSITIVE_INFINITY, 0.5])(
    "survives a hint of %d from the embedder",
    async (retryAfterMs) => {
      for (const error of [transient(refused(), { retryAfterMs }), refused()]) {
        const retrier = make({
          classify: () => (error instanceof MarkedError ? undefined : { verdict: "transient", retryAfterMs }),
        });
        const run = caught(retrier.run(() => Promise.reject(error)));
        await clock.advanceAsync(0);
        const { waitMs } = retrier.status().lastError!;
        expect(waitMs).toBe(retryAfterMs === Number.POSITIVE_INFINITY ? 300_000 : 1000);
        expect(make({ restore: retrier.snapshot() }).status().attempt).toBe(1);
        void run;
      }
    },
  );

  const trap = Object.defineProperty({}, "verdict", {
    get(): never {
      throw new Error("trap");
    },
  });
  const answers: [what: string, answer: () => unknown, told: number][] = [
    ["a promise that rejects", () => Promise.reject(new Error("later")), 1],
    ["a promise", () => Promise.resolve({ verdict: "permanent" }), 0],
    ["a text", () => "permanent", 0],
    ["a trap", () => trap, 0],
  ];
  it.each(answers)(
    "lets the tables decide where a classifier answers with %s",
    async (_what, answer, told) => {
      const onHookError = vi.fn();
      const retrier = make({ maxAttempts: 1, classify: answer as never, onHookError });
      expect(await caught(retrier.run(() => Promise.reject(refused())))).toBeInstanceOf(
        BootstrapExhaustedError,
      );
      expect(retrier.status().lastError).toMatchObject({ verdict: "transient", code: "ECONNREFUSED" });
      await macrotask();
      expect(onHookError).toHaveBeenCalledTimes(told);
    },
  );

  it("takes from a classifier's answer only what has the right form", async () => {
    const answer = {
      verdict: "suspect",
      code: 5,
      explanation: {},
      kind: 7,
      retryAfterMs: "9",
      pushbackMs: NaN,
    };
    const trap = Object.defineProperty({ ...answer }, "code", {
      get: () => {
        throw new Error("trap");
      },
    });
    for (const each of [answer, trap]) {
      const retrier = make({ maxAttempts: 1, classify: () => each as never });
      expect(await caught(retrier.run(() => Promise.reject(refused())))).toBeInstanceOf(
        BootstrapExhaustedError,
      );
      expect(retrier.status().lastError).toMatchObject({
        verdict: "suspect",
        code: "ECONNREFUSED",
        kind: "network",
        hintMs: null,
      });
    }
  });

  it("passes over classifiers that answer nonsense, and never lets one decide about the caller", async () => {
    const retrier = make({ maxAttempts: 1, classify: () => ({ verdict: "perhaps" }) as never });
    await caught(retrier.run(() => Promise.reject(refused())));
    expect(retrier.status().lastError?.verdict).toBe("transient");
    const gone = new Error("gone");
    const error = await caught(
      make({ classify: () => ({ verdict: "cancelled" }) }).run(() => Promise.reject(gone)),
    );
    expect(error).toBe(gone);
  });

  it("tells listeners, once or until they leave", async () => {
    const retrier = make();
    const [on, once, off] = [vi.fn(), vi.fn(), vi.fn()];
    retrier.on("attempt", on).once("attempt", once).on("attempt", off).off("attempt", off);
    const run = retrier.run(({ attempt }) => {
      if (attempt < 3) throw refused();
    });
    await clock.advanceAsync(5000);
    await run;
    expect([on, once, off].map(({ mock }) => mock.calls.length)).toEqual([3, 1, 0]);
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

describe("snapshots", () => {
  const at = async (seconds: number): Promise<RetrySnapshot> => {
    const retrier = make();
    retrier.run(() => Promise.reject(refused())).catch(() => undefined);
    await clock.advanceAsync(seconds * 1000);
    return JSON.parse(JSON.stringify(retrier.snapshot())) as RetrySnapshot;
  };

  it("survive JSON and a restore unchanged", async () => {
    const stored = await at(40);
    expect(make({ restore: stored }).snapshot()).toEqual(stored);
  });

  it("of a run that was cancelled in a refresh can be read again", async () => {
    const controller = new AbortController();
    const late = vi.fn();
    const refresh = (): Promise<string> =>
      new Promise((done) => clock.schedule(clock.now() + 50, () => done("token")));
    const retrier = make({ refresh, signal: controller.signal, onLateResult: late });
    const run = caught(retrier.run(() => Promise.reject(unauthenticated())));
    await clock.advanceAsync(10);
    expect(make({ restore: retrier.snapshot() }).status().state).toBe("waiting");
    controller.abort("stop");
    expect(await run).toBe("stop");
    expect(make({ restore: retrier.snapshot() }).status().counts.permanent).toBe(1);
    await clock.advanceAsync(100);
    expect(late).not.toHaveBeenCalled();
  });

  describe("of a refresh that was cut off", () => {
    const cutOff: Record<string, (controller: AbortController, retrier: BootstrapRetrier) => void> = {
      "by a crash": () => undefined,
      "by the caller": (controller) => clock.schedule(clock.now() + 5, () => controller.abort("stop")),
      "by a listener, before it began": (controller, retrier) =>
        retrier.on("failure", () => controller.abort("stop")),
    };

    it.each(Object.keys(cutOff))("%s let it be made again, after a wait", async (how) => {
      const controller = new AbortController();
      const retrier = make({ refresh: () => new Promise(() => undefined), signal: controller.signal });
      cutOff[how]?.(controller, retrier);
      retrier.run(() => Promise.reject(unauthenticated())).catch(() => undefined);
      await clock.advanceAsync(10);

      const refresh = vi.fn();
      const attempts: number[] = [];
      const run = make({ restore: retrier.snapshot(), refresh }).run(({ attempt }) => {
        attempts.push(attempt);
        if (refresh.mock.calls.length === 0) throw unauthenticated();
        return "in";
      });
      await clock.advanceAsync(500);
      expect(attempts).toEqual([]);
      await clock.advanceAsync(60_000);
      expect(await run).toBe("in");
      expect([attempts, refresh.mock.calls.length]).toEqual([[2, 3], 1]);
    });
  });

  it("that lie at the end of time are waited for within it", () => {
    const far = {
      ...make().snapshot(),
      state: "waiting",
      startedAt: 0,
      attempts: 1,
      attemptStartedAt: 0,
    } as const;
    const late = new VirtualClock({ startAt: 8_640_000_000_000_000 - 5 });
    const next = make({ clock: late, restore: { ...far, nextAttemptAt: Number.MAX_SAFE_INTEGER } });
    expect(next.snapshot().nextAttemptAt).toBe(8_640_000_000_000_000);
  });

  it("can be read under a clock that begins at zero, and written again", async () => {
    const stored = await at(40);
    clock = new VirtualClock({ startAt: 5 });
    const next = make({ restore: stored });
    next.run(() => Promise.reject(refused())).catch(() => undefined);
    expect(next.status()).toMatchObject({ state: "waiting", nextAttemptInMs: 21_000 });
    expect(make({ restore: next.snapshot() }).status().attempt).toBe(6);
  });

  it("keep the time that was left under a clock that was set back, never more", async () => {
    const stored = await at(40);
    clock.stepWall(-3_600_000);
    clock.restart(0);
    const starts: number[] = [];
    const zero = clock.now();
    make({ restore: stored })
      .run(() => {
        starts.push(clock.now() - zero);
        throw refused();
      })
      .catch(() => undefined);
    await clock.advanceAsync(52_000);
    expect(starts).toEqual([21_000, 51_000]);
  });

  it("count an attempt that the process died in as a failure, so that a crash loop waits as well", async () => {
    const retrier = make();
    void retrier.run(() => new Promise(() => undefined));
    const stored = retrier.snapshot();
    clock.restart(100);
    const starts: number[] = [];
    const next = make({ restore: stored });
    void next.run(() => starts.push(clock.now() - stored.observedAt));
    await clock.advanceAsync(2000);
    expect(starts).toEqual([1000]);
    expect(next.status().history).toMatchObject([{ attempt: 1, code: "INTERRUPTED" }]);
  });

  it("of a cancelled run go on where it stood, of one that is over do not", async () => {
    const controller = new AbortController();
    const retrier = make({ signal: controller.signal });
    const run = caught(retrier.run(() => Promise.reject(refused())));
    await clock.advanceAsync(500);
    controller.abort("shutdown");
    await run;
    const next = make({ restore: retrier.snapshot() });
    const resumed = next.run(() => "value");
    expect(next.status()).toMatchObject({ state: "waiting", nextAttemptInMs: 500 });
    await clock.advanceAsync(500);
    expect(await resumed).toBe("value");
    const over = make({ restore: next.snapshot() });
    expect(await caught(over.run(() => "again"))).toMatchObject({ code: "INVALID_STATE" });
  });

  it("do not bring a limit back to life", async () => {
    const stored = await at(40);
    expect(await caught(make({ restore: stored, maxAttempts: 6 }).run(() => 1))).toBeInstanceOf(
      BootstrapExhaustedError,
    );
    const deadline = { signal: new AbortController().signal, remainingMs: () => 20_000 };
    const error = await caught(make({ restore: stored, deadline }).run(() => 1));
    expect(error).toBeInstanceOf(BootstrapDeadlineError);
    expect(error).toMatchObject({ waitMs: 21_000, remainingMs: 20_000 });
  });

  it("that promise a wait of years are cut to the longest wait there is", async () => {
    const stored = { ...(await at(40)), nextAttemptAt: 9_000_000_000_000_000 };
    const next = make({ restore: stored });
    next.run(() => 1).catch(() => undefined);
    expect(next.status().nextAttemptInMs).toBe(300_000);
  });

  it("are refused when a field is missing, hostile or contradicts another", async () => {
    const stored = await at(40);
    const broken: unknown[] = [
      null,
      [],
      "text",
      {},
      { ...stored, schemaVersion: 2 },
      { ...stored, state: "waiting", nextAttemptAt: null },
    ];
    for (const field of Object.keys(stored)) {
      broken.push({ ...stored, [field]: undefined }, { ...stored, [field]: -1 }, { ...stored, [field]: {} });
      broken.push({ ...stored, [field]: Number.NaN }, { ...stored, [field]: "9" });
    }
    broken.push(
      { ...stored, observedAt: 0 },
      { ...stored, attempts: 2 },
      { ...stored, suspects: 3 },
      { ...stored, history: [{}] },
    );
    for (const restore of broken)
      expect(() => make({ restore: restore as RetrySnapshot }), JSON.stringify(restore)).toThrow(
        expect.toSatisfy((error: SlipwayError) =>
          ["INVALID_STATE", "UNSUPPORTED_SCHEMA_VERSION"].includes(error.code),
        ),
      );
  });
});
