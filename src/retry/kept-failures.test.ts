import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import type { AttemptFailure } from "./attempt-failure.js";
import { cutOffFailure, failureOf, noteOf } from "./failure-note.js";
import { exponentialBackoff, retryBootstrap, transient, type BootstrapDeadlineError } from "./index.js";

const failure: AttemptFailure = {
  ...{ attempt: 2, startedAt: 1_800_000_000_100, endedAt: 1_800_000_000_350, verdict: "transient" },
  ...{ code: "ECONNREFUSED", kind: "network", explanation: "nobody listens", message: "refused" },
  ...{ waitMs: 2000, hintMs: null, hintClamped: false, error: new Error("refused") },
};

describe("a failure as a run keeps it", () => {
  it.each([
    ["without a hint", {}],
    ["with a hint", { hintMs: 5000 }],
    ["with a hint that was cut", { hintMs: 90_000, hintClamped: true }],
    ["with a hint of nothing", { hintMs: 0 }],
  ])("is told as it was, %s", (_, more) => {
    const whole = { ...failure, ...more };
    expect(failureOf(noteOf(whole, 1_800_000_000_000), 1_800_000_000_000)).toEqual(whole);
  });

  it("has no room for a hint that was not given", () => {
    expect(noteOf(failure, 0)).not.toHaveProperty("hint");
  });

  it.each([
    ["cancelled", "cancellation"],
    ["transient", "unknown"],
  ] as const)(
    "says of an attempt that was ended from outside, %s, that nothing was thrown",
    (verdict, kind) => {
      const facts = { attempt: 1, startedAt: 5, endedAt: 9, verdict, code: "X", explanation: "ended" };
      expect(cutOffFailure(facts)).toEqual({
        ...{
          ...facts,
          kind,
          message: "ended",
          waitMs: null,
          hintMs: null,
          hintClamped: false,
          error: undefined,
        },
      });
    },
  );
});

describe("a deadline that leaves no room for the next wait", () => {
  const clock = new VirtualClock();
  const backoff = exponentialBackoff({ jitter: "none" });
  const ended = (thrown: unknown, signal: AbortSignal): Promise<BootstrapDeadlineError> => {
    const deadline = { signal, remainingMs: () => 300 };
    const run = retryBootstrap(() => Promise.reject(thrown as Error), { clock, backoff, deadline });
    return run.then(
      () => Promise.reject(new Error("it succeeded")),
      (error: unknown) => error as BootstrapDeadlineError,
    );
  };

  it("says how long that would have been, and what the peer asked for", async () => {
    const signal = new AbortController().signal;
    const thrown = new Error("busy");
    const told = await ended(transient(thrown, { retryAfterMs: 7000 }), signal);
    expect(told).toMatchObject({ code: "BOOTSTRAP_DEADLINE", waitMs: 7000, hintMs: 7000, remainingMs: 300 });
    expect(told.deadlineReason).toBeUndefined();
    expect(told.message).toContain("The next attempt is due in 7000 ms, the deadline in 300 ms");
  });

  it("says of no hint that there was none", async () => {
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    expect(await ended(refused, new AbortController().signal)).toMatchObject({ waitMs: 1000, hintMs: null });
  });
});
