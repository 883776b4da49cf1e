import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exponentialBackoff } from "./backoff.js";
import type { RetryPolicy } from "./progress.js";
import { restoredRun } from "./restored-run.js";
import type { RetrySnapshot, StoredFailure } from "./snapshot.js";

const policy: RetryPolicy = {
  backoff: exponentialBackoff({ jitter: "none", initialMs: 1000, capMs: 30_000 }),
  random: () => 0.5,
  maxAttempts: Number.POSITIVE_INFINITY,
  hintCapMs: 120_000,
  suspectAttempts: 3,
  suspectForMs: 30_000,
};
const NOW = 1_000_000;
const failure = (attempt: number, verdict: StoredFailure["verdict"] = "transient"): StoredFailure => ({
  attempt,
  startedAt: NOW - 5000,
  endedAt: NOW - 4990,
  verdict,
  code: "CODE",
  kind: "network",
  explanation: "why",
  message: "what",
  waitMs: 4000,
  hintMs: null,
  hintClamped: false,
});
const stored = (more: Partial<RetrySnapshot> = {}): RetrySnapshot => ({
  schemaVersion: 1,
  state: "waiting",
  observedAt: NOW - 1000,
  startedAt: NOW - 10_000,
  attemptStartedAt: NOW - 5000,
  nextAttemptAt: NOW + 2000,
  retryNowAt: NOW - 6000,
  attempts: 2,
  failures: 2,
  previousMs: 2000,
  suspects: 1,
  suspectSince: NOW - 7000,
  refreshed: false,
  transientCount: 2,
  permanentCount: 0,
  suspectCount: 0,
  cancelledCount: 0,
  history: [failure(1), failure(2)],
  ...more,
});
const restored = (more?: Partial<RetrySnapshot>, now = NOW) => restoredRun(stored(more), policy, now);

describe("a run that waited", () => {
  it("goes on at the same instant", () => {
    const { startedAt, attemptStartedAt, nextAttemptAt, retryNowAt, suspectSince, ...rest } = restored();
    expect([startedAt, attemptStartedAt, nextAttemptAt, retryNowAt, suspectSince]).toEqual([
      NOW - 10_000,
      NOW - 5000,
      NOW + 2000,
      NOW - 6000,
      NOW - 7000,
    ]);
    expect(rest).toMatchObject({ failures: 2, previousMs: 2000, wasInterrupted: false });
    expect(rest.end).toBeUndefined();
  });

  it("moves with a clock that was set back, and never before the beginning of time", () => {
    const back = restored({}, 5);
    expect([back.startedAt, back.nextAttemptAt]).toEqual([0, 3005]);
    const little = restored({}, NOW - 3000);
    expect([little.startedAt, little.nextAttemptAt, little.suspectSince]).toEqual([
      NOW - 12_000,
      NOW,
      NOW - 9000,
    ]);
  });

  it("is not in the past of a clock that went on", () => {
    expect(restored({}, NOW + 60_000).nextAttemptAt).toBe(NOW + 2000);
  });

  it.each([
    ["the backoff's cap and that of hints", policy, 120_000],
    ["a day where the backoff tells no cap", { ...policy, backoff: { delayMs: () => 5 } }, 86_400_000],
  ])("waits at most %s", (_name, limits, longest) => {
    const far = stored({ nextAttemptAt: NOW * 1000 });
    expect(restoredRun(far, limits, NOW).nextAttemptAt).toBe(NOW + longest);
  });
});

describe("a run whose process ended in an attempt", () => {
  const attempting = { state: "attempting", nextAttemptAt: null, attempts: 3 } as const;

  it("counts it as failed, from its start", () => {
    expect(restored(attempting)).toMatchObject({
      failures: 3,
      previousMs: 4000,
      nextAttemptAt: NOW - 1000,
      transientCount: 3,
      wasInterrupted: true,
    });
  });

  it("notes it once: what was cut off by the caller is in the history already", () => {
    const cancelled = { ...attempting, state: "cancelled", history: [failure(3, "cancelled")] } as const;
    expect(restored(cancelled)).toMatchObject({ failures: 3, transientCount: 2, wasInterrupted: false });
    expect(restored({ ...cancelled, history: [failure(2)] }).wasInterrupted).toBe(true);
  });
});

describe("a run whose process ended in a refresh", () => {
  const history = [failure(1), failure(2, "permanent")];

  it.each(["waiting", "cancelled"] as const)("waits, and may make it again: %s", (state) => {
    const cut = { state, history, nextAttemptAt: NOW - 5000 } as const;
    expect(restored(cut)).toMatchObject({ failures: 2, nextAttemptAt: NOW - 3000, wasInterrupted: false });
    expect(restored({ ...cut, refreshed: true })).toMatchObject({ failures: 2, nextAttemptAt: NOW - 5000 });
  });

  it("waits once, however often it is restored in that wait", () => {
    const history = [failure(2, "permanent")];
    let snapshot = stored({ history, failures: 1, nextAttemptAt: NOW - 5000, previousMs: 1000 });
    const { nextAttemptAt } = restoredRun(snapshot, policy, NOW);
    for (let turn = 0; turn < 4; turn += 1) {
      const run = restoredRun(snapshot, policy, NOW + turn);
      expect([run.failures, run.nextAttemptAt]).toEqual([2, nextAttemptAt]);
      const { failures, previousMs } = run;
      snapshot = { ...snapshot, failures, previousMs, nextAttemptAt: run.nextAttemptAt };
    }
    const none = { ...policy, backoff: { delayMs: () => 0 } };
    expect(restoredRun(stored({ history, nextAttemptAt: NOW - 5000 }), none, NOW).failures).toBe(2);
  });

  it("is not one that had failed", () => {
    expect(restored({ state: "failed", history, nextAttemptAt: null })).toMatchObject({ failures: 2 });
  });
});

describe("a run that was over", () => {
  it("ended when and how it ended", () => {
    const over = { nextAttemptAt: null, endedAt: NOW - 2000 };
    expect(restored({ ...over, state: "failed", outcome: "deadline" }).end).toEqual({
      at: NOW - 2000,
      outcome: "deadline",
      reason: undefined,
    });
    expect(restored({ ...over, state: "succeeded" }).end).toEqual({
      at: NOW - 2000,
      outcome: undefined,
      reason: undefined,
    });
    expect(restored({ ...over, state: "failed" }, NOW - 3000).end?.at).toBe(NOW - 4000);
  });

  it("of an earlier release ended when it was stored, by a failure that is permanent", () => {
    const end = { at: NOW - 1000, outcome: "permanent", reason: undefined };
    expect(restored({ state: "failed", nextAttemptAt: null }).end).toEqual(end);
  });

  it("is gone on with when it was cancelled", () => {
    expect(restored({ state: "cancelled", endedAt: NOW - 2000 }).end).toBeUndefined();
  });
});

describe("a restore", () => {
  const states = ["waiting", "attempting", "cancelled", "succeeded", "failed", "idle"] as const;

  it("never waits longer than this retrier would, and has no instant before the beginning of time", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...states),
        fc.option(fc.nat(Number.MAX_SAFE_INTEGER)),
        fc.nat(2 * NOW),
        fc.boolean(),
        (state, nextAttemptAt, now, refreshed) => {
          const run = restored({ state, nextAttemptAt, refreshed }, now);
          expect((run.nextAttemptAt ?? 0) - now).toBeLessThanOrEqual(120_000);
          for (const at of [run.startedAt, run.attemptStartedAt, run.nextAttemptAt, run.suspectSince])
            expect(at ?? 0).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});
