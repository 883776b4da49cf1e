import { beforeEach, describe, expect, it, vi } from "vitest";
import { backoff, caught, expectNoRejections, macrotask, refused } from "../../test/retry/failures.js";
import { VirtualClock } from "../testing/index.js";
import {
  BootstrapExhaustedError,
  BootstrapRetrier,
  MarkedError,
  permanent,
  transient,
  type BootstrapRetrierOptions,
} from "./index.js";

expectNoRejections();

let clock: VirtualClock;

beforeEach(() => {
  clock = new VirtualClock();
});

const make = (options: BootstrapRetrierOptions = {}): BootstrapRetrier =>
  new BootstrapRetrier({ clock, backoff, ...options });

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
