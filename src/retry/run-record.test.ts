import { beforeEach, describe, expect, it, vi } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { BootstrapRetrier, exponentialBackoff, type BootstrapRetrierOptions } from "./index.js";

const refused = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const unauthenticated = (): Error => Object.assign(new Error("401"), { status: 401 });

let clock: VirtualClock;
let zero: number;
beforeEach(() => {
  clock = new VirtualClock();
  zero = clock.now();
});

const make = (options: BootstrapRetrierOptions = {}): BootstrapRetrier =>
  new BootstrapRetrier({ clock, backoff: exponentialBackoff({ jitter: "none" }), ...options });
const caught = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
const failsAfter = (ms: number, error = refused()): Promise<never> =>
  new Promise((_, reject) => {
    clock.schedule(clock.now() + ms, () => {
      reject(error);
    });
  });
const never = (): Promise<never> => new Promise(() => undefined);

describe("the history of a run", () => {
  it("has when each attempt began and ended, and the wait that followed", async () => {
    const retrier = make();
    retrier.run(() => failsAfter(250)).catch(() => undefined);
    await clock.advanceAsync(5000);
    const { history, firstError, lastError } = retrier.status();
    const times = history.map(({ startedAt, endedAt, waitMs }) => [startedAt - zero, endedAt - zero, waitMs]);
    expect(times).toEqual([
      [0, 250, 1000],
      [1250, 1500, 2000],
      [3500, 3750, 4000],
    ]);
    expect([firstError, lastError]).toEqual([history[0], history[2]]);
  });

  it("counts every failure that it dropped, whatever it was", async () => {
    const controller = new AbortController();
    const verdicts = ["permanent", "suspect", "transient", "suspect", "transient"] as const;
    const retrier = make({
      historyLimit: 2,
      signal: controller.signal,
      backoff: { delayMs: () => 10 },
      refresh: () => "token",
      classify: (error) => ({
        verdict: verdicts[(error as { index: number }).index] ?? "transient",
        kind: "authentication",
      }),
    });
    const run = caught(
      retrier.run(({ attempt }) =>
        attempt < 6 ? failsAfter(1, Object.assign(refused(), { index: attempt - 1 })) : never(),
      ),
    );
    await clock.advanceAsync(5000);
    controller.abort("stop");
    await run;
    const { counts, omitted, history } = retrier.status();
    expect(counts).toEqual({ permanent: 1, suspect: 2, transient: 2, cancelled: 1 });
    expect([history.map((failure) => failure.attempt), omitted]).toEqual([[1, 6], 4]);
  });

  it.each([
    ["CANCELLED", "The caller gave up during the attempt"],
    ["DEADLINE", "The deadline passed during the attempt"],
  ])("says who ended the attempt that was under way: %s", async (code, explanation) => {
    const controller = new AbortController();
    const deadline = { signal: new AbortController().signal, remainingMs: () => zero + 3000 - clock.now() };
    const retrier = make({ signal: controller.signal, deadline });
    const run = caught(retrier.run(({ attempt }) => (attempt === 1 ? failsAfter(10) : never())));
    await clock.advanceAsync(2000);
    if (code === "CANCELLED") controller.abort("stop");
    await clock.advanceAsync(1000);
    const error = await run;
    const { lastError, counts } = retrier.status();
    expect(lastError).toMatchObject({
      attempt: 2,
      startedAt: zero + 1010,
      endedAt: zero + (code === "CANCELLED" ? 2000 : 3000),
      verdict: "cancelled",
      code,
      explanation,
      message: explanation,
      waitMs: null,
    });
    expect(counts).toMatchObject({ transient: 1, cancelled: 1 });
    // What the operation itself threw last is the cause, and no word about the end.
    if (code === "DEADLINE") expect(error).toMatchObject({ cause: { code: "ECONNREFUSED" } });
  });

  it("has no wait after a failure that the deadline left no time for", async () => {
    const deadline = { signal: new AbortController().signal, remainingMs: () => zero + 500 - clock.now() };
    const retrier = make({ deadline });
    expect(await caught(retrier.run(() => Promise.reject(refused())))).toMatchObject({
      code: "BOOTSTRAP_DEADLINE",
      waitMs: 1000,
      remainingMs: 500,
    });
    expect(retrier.status()).toMatchObject({ nextAttemptAt: null, lastError: { waitMs: null } });
  });

  it("says of an attempt that a process died in when it began, and no more", async () => {
    const before = make();
    void before.run(never);
    await clock.advanceAsync(300);
    const stored = before.snapshot();
    clock.advance(50_000);
    expect(make({ restore: stored }).status().history).toMatchObject([
      {
        attempt: 1,
        startedAt: zero,
        endedAt: zero,
        verdict: "transient",
        code: "INTERRUPTED",
        explanation: "The process ended during the attempt",
      },
    ]);
  });
});

describe("a renewal of credentials", () => {
  it("is not made a second time after a failure of another kind", async () => {
    const refresh = vi.fn();
    const errors = [unauthenticated(), refused(), unauthenticated()];
    const run = caught(make({ refresh }).run(({ attempt }) => Promise.reject(errors[attempt - 1]!)));
    await clock.advanceAsync(60_000);
    expect(await run).toMatchObject({ code: "BOOTSTRAP_PERMANENT", cause: errors[2] });
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it("is not made a second time by another process either", async () => {
    const before = make({ refresh: () => "token" });
    before
      .run(({ attempt }) => Promise.reject(attempt === 1 ? unauthenticated() : refused()))
      .catch(() => undefined);
    await clock.advanceAsync(10);
    const refresh = vi.fn();
    const run = caught(
      make({ restore: before.snapshot(), refresh }).run(() => Promise.reject(unauthenticated())),
    );
    await clock.advanceAsync(60_000);
    expect(await run).toMatchObject({ code: "BOOTSTRAP_PERMANENT" });
    expect(refresh).not.toHaveBeenCalled();
  });
});

describe("the counts of a run", () => {
  it("are kept by another process", async () => {
    const controller = new AbortController();
    const before = make({ signal: controller.signal, refresh: () => "token" });
    const run = caught(
      before.run(({ attempt }) => (attempt === 1 ? Promise.reject(unauthenticated()) : never())),
    );
    await clock.advanceAsync(10);
    controller.abort("shutdown");
    await run;
    const counts = { permanent: 1, transient: 0, suspect: 0, cancelled: 1 };
    expect(before.status().counts).toEqual(counts);
    expect(make({ restore: before.snapshot() }).status().counts).toEqual(counts);
  });
});

describe("the next attempt", () => {
  it("is kept in the snapshot of a run that was cancelled while it waited", async () => {
    const controller = new AbortController();
    const retrier = make({ signal: controller.signal });
    const run = caught(retrier.run(() => Promise.reject(refused())));
    await clock.advanceAsync(400);
    controller.abort("shutdown");
    expect(await run).toBe("shutdown");
    expect(retrier.snapshot()).toMatchObject({ state: "cancelled", nextAttemptAt: zero + 1000 });
  });

  it("is none where the classifier says that somebody gave up", async () => {
    const error = refused();
    const retrier = make({ classify: () => ({ verdict: "cancelled" }) });
    expect(await caught(retrier.run(() => Promise.reject(error)))).toBe(error);
    expect(retrier.snapshot()).toMatchObject({ state: "cancelled", nextAttemptAt: null });
    expect(retrier.status().lastError).toMatchObject({ verdict: "cancelled", waitMs: null });
  });

  it("comes no sooner by retryNow where it is due already", async () => {
    const retrier = make({ backoff: { delayMs: () => 0 } });
    const answers: boolean[] = [];
    retrier.on("waiting", () => answers.push(retrier.retryNow()));
    const run = retrier.run(({ attempt }) => (attempt === 1 ? Promise.reject(refused()) : "value"));
    await clock.advanceAsync(10);
    expect(await run).toBe("value");
    expect(answers).toEqual([false]);
  });

  it("is made at once for a peer that says so, and after a wait when it says so again", async () => {
    const starts: number[] = [];
    const retrier = make({
      classify: () => (starts.length > 1 ? { verdict: "transient", pushbackMs: 0 } : undefined),
    });
    retrier
      .run(() => {
        starts.push(clock.now() - zero);
        return Promise.reject(refused());
      })
      .catch(() => undefined);
    await clock.advanceAsync(2500);
    // A timer takes a millisecond at least.
    expect(starts).toEqual([0, 1000, 1001, 2001]);
  });
});
