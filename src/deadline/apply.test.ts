import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attempt, fresh, run, why, type WithoutAttempt } from "../../test/deadline/applied-events.js";
import { isSlipwayError } from "../errors.js";
import { applyDeadlineEvent } from "./apply.js";
import type { DeadlineEvent } from "./event.js";
import { readDeadline } from "./read.js";

describe("enter", () => {
  it("opens the full budget of a later phase, once, and never goes back", () => {
    const { state, outcomes } = run(
      fresh(),
      [900, { type: "enter", phase: "settle" }],
      [950, { type: "enter", phase: "settle" }],
      [950, { type: "enter", phase: "admit" }],
      [950, { type: "enter", phase: "nowhere" }],
    );
    expect(state).toMatchObject({ phase: "settle", phaseEnteredAt: 900, windowEndsAt: 1400, marks: [] });
    expect(outcomes.slice(1)).toEqual([why("duplicate"), why("backward"), why("unknown-phase")]);
  });

  it("while paused opens a frozen full budget", () => {
    const { state } = run(
      fresh(),
      [100, { type: "pause", seq: 1 }],
      [300, { type: "enter", phase: "admit" }],
    );
    expect(readDeadline(state, 400).pausedBudgetMs).toBe(500);
    expect(run(state, [700, { type: "resume", seq: 2 }]).state.windowEndsAt).toBe(1200);
  });
});

describe("pause and resume", () => {
  it("gain nothing when redelivered or overtaken", () => {
    const { state, outcomes } = run(
      fresh(),
      [100, { type: "pause", seq: 1 }],
      [200, { type: "resume", seq: 2 }],
      [300, { type: "pause", seq: 1 }],
      [400, { type: "resume", seq: 2 }],
    );
    expect(outcomes.slice(2)).toEqual([why("duplicate"), why("duplicate")]);
    expect(state).toMatchObject({ pausedAt: null, windowEndsAt: 1100 });
    const overtaken = run(fresh(), [100, { type: "resume", seq: 2 }], [200, { type: "pause", seq: 1 }]);
    expect(overtaken.last).toEqual(why("duplicate"));
    expect(overtaken.state).toMatchObject({ pausedAt: null, windowEndsAt: 1000 });
    const latest = run(
      fresh(),
      [100, { type: "pause", seq: 1 }],
      [200, { type: "pause", seq: 3 }],
      [300, { type: "resume", seq: 2 }],
    );
    expect(latest.state).toMatchObject({ pausedAt: 100, pauseSeq: 3 });
  });

  it("are refused by a plan that nothing would end", () => {
    const open = { phases: [{ name: "run", budgetMs: 1000 }] };
    expect(run(fresh("run", open), [1, { type: "pause", seq: 1 }]).last).toEqual(why("not-pausable"));
    expect(run(fresh("run", open), [1, { type: "resume", seq: 1 }]).last).toEqual(why("not-pausable"));
  });

  it("freeze the stall as well, and progress while paused keeps it whole", () => {
    const { state } = run(
      fresh(),
      [10, { type: "progress", phase: "prepare", step: "download", position: 1 }],
      [60, { type: "pause", seq: 1 }],
    );
    expect(readDeadline(state, 400)).toMatchObject({
      status: "active",
      bounds: { stall: null, budget: null },
    });
    expect(run(state, [460, { type: "resume", seq: 2 }]).state.stallEndsAt).toBe(510);
    const busy = run(
      state,
      [300, { type: "progress", phase: "prepare", step: "download", position: 2 }],
      [460, { type: "resume", seq: 2 }],
    );
    expect(busy.state.stallEndsAt).toBe(560);
  });

  it("leave a phase's ceiling and the parent running", () => {
    const capped = { phases: [{ name: "run", budgetMs: 1000, ceilingMs: 1200 }], ceilingMs: 9000 };
    const { state } = run(fresh("run", capped), [100, { type: "pause", seq: 1 }]);
    expect(readDeadline(state, 200)).toMatchObject({ deadlineAt: 1200, limitedBy: "phase-ceiling" });
  });
});

describe("the end", () => {
  it("completes in the last phase only", () => {
    expect(run(fresh(), [1, { type: "complete" }]).last).toEqual(why("not-final-phase"));
    expect(run(fresh("settle"), [1, { type: "complete" }]).state).toMatchObject({
      status: "completed",
      completedAt: 1,
      cleanup: { status: "none" },
    });
  });

  it("is by cancel with its reason, and a cleanup", () => {
    expect(run(fresh(), [1, { type: "cancel", reason: "user stop" }]).state).toMatchObject({
      status: "cancelled",
      cancellation: { at: 1, reason: "user stop" },
      cleanup: { status: "pending" },
    });
  });

  it("is found by late news, which is refused and written", () => {
    const state = fresh();
    for (const event of [
      { type: "progress", phase: "prepare", position: 1 },
      { type: "enter", phase: "admit" },
      { type: "claim-cleanup", owner: "g" },
      { type: "tick" },
    ] as WithoutAttempt[]) {
      const { last, state: after } = run(state, [1000, event]);
      expect(last).toEqual({ applied: false, why: "expired", changed: true });
      expect(after).toMatchObject({
        status: "expired",
        version: 2,
        expiry: { at: 1000, limitedBy: "budget" },
      });
    }
    const stale = applyDeadlineEvent(state, { type: "complete", attempt: "other" }, 1000);
    expect(stale).toMatchObject({
      outcome: { why: "stale-attempt", changed: true },
      state: { status: "expired" },
    });
  });

  it("names the earliest bound, and on a tie the first of the list", () => {
    const tie = { phases: [{ name: "run", budgetMs: 100, ceilingMs: 100, stallMs: 100 }], ceilingMs: 100 };
    const limits = (overrides: object, ceilingMs = 100) =>
      run(
        fresh("run", { phases: [{ ...tie.phases[0]!, ...overrides }], ceilingMs, ceilingMayTruncate: true }),
        [100, { type: "tick" }],
      ).state.expiry?.limitedBy;
    expect(limits({})).toBe("budget");
    expect(limits({ budgetMs: 101 })).toBe("phase-ceiling");
    expect(limits({ budgetMs: 101, ceilingMs: 101 })).toBe("attempt-ceiling");
    expect(limits({ budgetMs: 101, ceilingMs: 101 }, 101)).toBe("stall");
  });

  it("says what was wrong, for people", () => {
    const rejected = run(
      fresh("admit"),
      [10, { type: "reject", generation: 1, reason: "Invalid", message: "no host" }],
      [600, { type: "tick" }],
    );
    expect(rejected.state.expiry?.message).toBe(
      "admit did not finish within its window, which ended 0.51 s after it began; configuration generation 1 was rejected: Invalid: no host",
    );
  });
});

describe("tick", () => {
  it("records the time only when the recorded one is old", () => {
    const observing = { phases: [{ name: "run" }], observeEveryMs: 30 };
    const state = fresh("run", observing);
    expect(run(state, [30, { type: "tick" }]).last).toEqual({ applied: true, changed: false });
    expect(run(state, [31, { type: "tick" }])).toMatchObject({
      last: { changed: true },
      state: { observedAt: 31, version: 2 },
    });
  });

  it("never counts time as less than it was", () => {
    const { state, last } = run(
      fresh(),
      [900, { type: "enter", phase: "admit" }],
      [10, { type: "enter", phase: "settle" }],
    );
    expect(last).toMatchObject({ applied: true });
    expect(state).toMatchObject({ observedAt: 900, windowEndsAt: 1400 });
  });
});

describe("mistakes", () => {
  it("are refused before anything is decided, by the field", () => {
    const late = { type: "cancel", attempt } as unknown as DeadlineEvent;
    const refused = expect.objectContaining({ code: "INVALID_EVENT", field: "reason" }) as unknown;
    expect(() => applyDeadlineEvent(fresh(), late, 1)).toThrow(refused);
    expect(() => applyDeadlineEvent(fresh(), late, 1_000_000)).toThrow(refused);
  });

  it("never throw anything but the library's own error", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (event, now) => {
        try {
          applyDeadlineEvent(fresh(), event as DeadlineEvent, now as number);
        } catch (error) {
          expect(isSlipwayError(error)).toBe(true);
        }
      }),
    );
    expect(() => applyDeadlineEvent(fresh(), { type: "tick" }, Number.NaN)).toThrow(
      /now must be a safe integer/,
    );
  });
});
