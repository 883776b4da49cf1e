import { describe, expect, it } from "vitest";
import { afterFailure, type FailureFacts, type RetryPolicy, type RetryProgress } from "./progress.js";
import type { Classification, Verdict } from "./verdict.js";

const NOW = 1_000_000;
const progress: RetryProgress = {
  attempts: 1,
  failures: 0,
  previousMs: null,
  suspects: 0,
  suspectSince: null,
  refreshed: false,
  transientCount: 0,
  permanentCount: 0,
  suspectCount: 0,
  cancelledCount: 0,
};
const policy: RetryPolicy = {
  backoff: { delayMs: () => 100 },
  random: () => 0.5,
  maxAttempts: 5,
  hintCapMs: 1000,
  suspectAttempts: 2,
  suspectForMs: 500,
};

interface Case {
  readonly verdict?: Verdict;
  readonly failure?: Partial<Classification>;
  readonly facts?: Partial<FailureFacts>;
  readonly progress?: Partial<RetryProgress>;
  readonly policy?: Partial<RetryPolicy>;
}

function after({ verdict = "transient", failure, facts, ...changed }: Case) {
  const classification = { verdict, code: "X", explanation: "x", ...failure };
  return afterFailure(
    { ...progress, ...changed.progress },
    {
      classification,
      now: NOW,
      remainingMs: Number.POSITIVE_INFINITY,
      previousHintMs: null,
      canRefresh: false,
      ...facts,
    },
    { ...policy, ...changed.policy },
  );
}

describe("a failure", () => {
  it.each(["transient", "permanent", "suspect", "cancelled"] as const)(
    "that is %s is counted as such",
    (verdict) => {
      const counts = { transientCount: 3, permanentCount: 3, suspectCount: 3, cancelledCount: 3 };
      expect(after({ verdict, progress: counts }).progress).toMatchObject({
        ...counts,
        [`${verdict}Count`]: 4,
      });
    },
  );

  it.each(["permanent", "cancelled"] as const)("that is %s ends the run and plans no wait", (verdict) => {
    expect(after({ verdict }).decision).toEqual({
      next: "stop",
      stoppedBy: verdict,
      waitMs: null,
      hintMs: null,
      hintClamped: false,
    });
  });

  it("ends the run when the next wait would reach the deadline, and not a millisecond before", () => {
    expect(after({ facts: { remainingMs: 100 } }).decision).toMatchObject({
      next: "stop",
      stoppedBy: "deadline",
      waitMs: 100,
    });
    expect(after({ facts: { remainingMs: 101 } }).decision).toMatchObject({ next: "wait", stoppedBy: null });
  });

  it("of the last attempt ends the run", () => {
    expect(after({ progress: { attempts: 5 } }).decision.stoppedBy).toBe("exhausted");
    expect(after({ progress: { attempts: 4 } }).decision.next).toBe("wait");
  });
});

describe("an authentication failure", () => {
  const authentication = { verdict: "permanent", failure: { kind: "authentication" } } as const;

  it("refreshes the credentials, once", () => {
    const first = after({ ...authentication, facts: { canRefresh: true } });
    expect(first.decision.next).toBe("refresh");
    expect(first.progress.refreshed).toBe(true);
    const again = after({ ...authentication, facts: { canRefresh: true }, progress: first.progress });
    expect(again.decision.stoppedBy).toBe("permanent");
  });

  it.each<[string, Case]>([
    ["nobody can refresh", { facts: { canRefresh: false } }],
    ["it is the last attempt", { facts: { canRefresh: true }, progress: { attempts: 5 } }],
    ["no time is left", { facts: { canRefresh: true, remainingMs: 0 } }],
    ["it is about something else", { facts: { canRefresh: true }, failure: { kind: "authorization" } }],
  ])("is permanent when %s", (_, more) => {
    expect(after({ ...authentication, ...more }).decision).toMatchObject({
      next: "stop",
      stoppedBy: "permanent",
    });
  });
});

describe("suspect failures", () => {
  const second = { suspects: 1, suspectSince: NOW - 500 };

  it("end the run when there were enough of them for long enough", () => {
    expect(after({ verdict: "suspect", progress: second }).decision.stoppedBy).toBe("permanent");
  });

  it("are tried again when they are too few or too fresh, and forgotten after another failure", () => {
    const few = { verdict: "suspect", progress: { suspects: 0, suspectSince: NOW - 5000 } } as const;
    expect(after(few).decision.next).toBe("wait");
    const fresh = { verdict: "suspect", progress: { suspects: 7, suspectSince: NOW - 499 } } as const;
    expect(after(fresh).decision.next).toBe("wait");
    expect(after({ progress: second }).progress).toMatchObject({ suspects: 0, suspectSince: null });
  });
});

describe("the wait", () => {
  it("is the backoff's, which is told what was waited before", () => {
    const told: unknown[] = [];
    const backoff = {
      delayMs: (failures: number, context: object = {}) => {
        told.push(failures, context);
        return 7.2;
      },
    };
    const { decision } = after({ progress: { failures: 2, previousMs: 40 }, policy: { backoff } });
    expect(decision).toMatchObject({ waitMs: 8, hintMs: null, hintClamped: false });
    expect(told).toEqual([3, { previousMs: 40, random: policy.random }]);
  });

  it("is a second when the backoff's answer is none, and may be nothing", () => {
    const delayed = (delayMs: number) =>
      after({ policy: { backoff: { delayMs: () => delayMs } } }).decision.waitMs;
    expect([delayed(Number.NaN), delayed(-1), delayed(0)]).toEqual([1000, 1000, 0]);
  });

  it.each([
    [50, 100, false],
    [999, 999, false],
    [1000, 1000, false],
    [1001, 1000, true],
  ])("is at least what the peer asks for, up to the cap: %i", (retryAfterMs, waitMs, hintClamped) => {
    const { decision } = after({ failure: { retryAfterMs } });
    expect(decision).toMatchObject({ waitMs, hintMs: retryAfterMs, hintClamped });
  });

  it("is just what the peer pushes back with, and the backoff begins anew", () => {
    const { decision, progress: next } = after({ failure: { pushbackMs: 5 }, progress: { failures: 4 } });
    expect(decision).toMatchObject({ waitMs: 5, hintMs: 5, hintClamped: false });
    expect(next).toMatchObject({ failures: 0, previousMs: 5 });
  });
});
