import { describe, expect, it } from "vitest";
import { applyDeadlineEvent } from "./apply.js";
import { readDeadline } from "./read.js";
import { startAttempt } from "./start.js";
import type { DeadlineState } from "./state.js";

function fresh(phase: object, more: object = {}): DeadlineState {
  const { state } = startAttempt(
    { phases: [{ name: "run", ...phase }], ...more },
    { attempt: "a1", now: 100 },
  );
  if (state === undefined) throw new Error("refused");
  return state;
}

describe("a reading", () => {
  it("of an active attempt says what is left and what limits it", () => {
    expect(readDeadline(fresh({ budgetMs: 500 }), 300)).toMatchObject({
      attempt: "a1",
      status: "active",
      phase: "run",
      deadlineAt: 600,
      remainingMs: 300,
      elapsedMs: 200,
      limitedBy: "budget",
      paused: false,
      pausedBudgetMs: null,
    });
  });

  it("of an unlimited attempt has no deadline", () => {
    const reading = readDeadline(fresh({}), 300);
    expect(reading).toMatchObject({
      deadlineAt: null,
      remainingMs: Number.POSITIVE_INFINITY,
      limitedBy: null,
      paused: false,
      pausedBudgetMs: null,
    });
  });

  it("of an expired attempt ends at its deadline, written or not", () => {
    const state = fresh({ budgetMs: 500 });
    const settled = {
      status: "expired",
      deadlineAt: null,
      remainingMs: 0,
      elapsedMs: 500,
      limitedBy: "budget",
    };
    expect(readDeadline(state, 9000)).toMatchObject(settled);
    expect(readDeadline(applyDeadlineEvent(state, { type: "tick" }, 700).state, 9000)).toMatchObject(settled);
  });

  it.each([
    ["completed", { type: "complete", attempt: "a1" } as const],
    ["cancelled", { type: "cancel", attempt: "a1", reason: "enough" } as const],
  ])("of a %s attempt ends with it", (status, event) => {
    const { state } = applyDeadlineEvent(fresh({ budgetMs: 500 }), event, 250);
    expect(readDeadline(state, 9000)).toMatchObject({
      status,
      deadlineAt: null,
      remainingMs: 0,
      elapsedMs: 150,
      limitedBy: null,
      paused: false,
      pausedBudgetMs: null,
    });
  });

  it("while paused keeps what is left of the budget", () => {
    const plan = fresh({ budgetMs: 500 }, { ceilingMs: 5000 });
    const { state } = applyDeadlineEvent(plan, { type: "pause", attempt: "a1", seq: 1 }, 250);
    expect(readDeadline(state, 900)).toMatchObject({
      status: "active",
      paused: true,
      pausedBudgetMs: 350,
      deadlineAt: 5100,
      limitedBy: "attempt-ceiling",
    });
  });

  it("reports a stall no later than the bound before it", () => {
    expect(readDeadline(fresh({ budgetMs: 500, stallMs: 50 }), 110).bounds).toMatchObject({
      stall: 150,
      budget: 600,
    });
    const late = fresh({ budgetMs: 500, stallMs: 400 }, { ceilingMs: 300, ceilingMayTruncate: true });
    expect(readDeadline(late, 110).bounds).toMatchObject({ stall: 400, "attempt-ceiling": 400 });
  });
});
