import { describe, expect, it } from "vitest";
import { attempt, fresh, run, why, type WithoutAttempt } from "../../test/deadline/applied-events.js";
import { applyDeadlineEvent } from "./apply.js";
import type { DeadlineEvent } from "./event.js";

describe("progress", () => {
  const progress = (rest: object): WithoutAttempt => ({ type: "progress", phase: "prepare", ...rest });

  it.each([
    ["unknown-phase", { phase: "nowhere" }],
    ["other-phase", { phase: "admit" }],
    ["invalid-position", { position: Number.NaN }],
    ["invalid-position", { position: Number.POSITIVE_INFINITY }],
    ["invalid-position", { position: -1 }],
    ["invalid-position", { position: "7" }],
  ])("is refused as %s", (reason, rest) => {
    const state = fresh();
    const step = run(state, [10, progress(rest)]);
    expect(step.last).toEqual(why(reason));
    expect(step.state).toBe(state);
  });

  it("without a position counts once a step, and gives way to a position", () => {
    const { outcomes } = run(
      fresh(),
      [1, progress({ step: "a" })],
      [2, progress({ step: "a" })],
      [3, progress({ step: "a", position: 0 })],
      [4, progress({ step: "a" })],
      [5, progress({ step: "a", position: 0 })],
      [6, progress({ step: "b", part: "x" })],
      [7, progress({})],
      [8, progress({})],
    );
    expect(outcomes.map((outcome) => outcome.applied)).toEqual([
      true,
      false,
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
  });

  it("takes null for absent, as JSON of other languages writes it", () => {
    const event = {
      type: "progress",
      attempt,
      phase: "prepare",
      step: null,
      part: null,
      position: null,
      run: null,
    };
    expect(applyDeadlineEvent(fresh(), event as unknown as DeadlineEvent, 1).outcome.applied).toBe(true);
  });

  it("of a higher run begins the marks again but no budget", () => {
    const { state, outcomes } = run(
      fresh(),
      [10, progress({ step: "download", position: 900 })],
      [20, progress({ step: "download", position: 10, run: 1 })],
      [30, progress({ step: "download", position: 901 })],
      [40, progress({ step: "download", position: 902, run: 0 })],
    );
    expect(outcomes.map((outcome) => outcome.applied)).toEqual([true, true, true, false]);
    expect(outcomes[3]).toEqual(why("stale-run"));
    expect(state).toMatchObject({ run: 1, windowEndsAt: 1000, marks: [{ step: "download", position: 901 }] });
  });

  it("takes 64 steps a phase, of which each may have many parts", () => {
    let { state } = run(fresh("admit"));
    for (let index = 0; index < 64; index += 1) {
      state = run(state, [1, { type: "progress", phase: "admit", step: `s${index}` }]).state;
    }
    expect(run(state, [1, { type: "progress", phase: "admit", step: "one more" }]).last).toEqual(
      why("too-many-steps"),
    );
    expect(
      run(state, [1, { type: "progress", phase: "admit", step: "s0", part: "layer" }]).last?.applied,
    ).toBe(true);
    expect(
      run(
        state,
        [2, { type: "enter", phase: "settle" }],
        [2, { type: "progress", phase: "settle", step: "s" }],
      ).last?.applied,
    ).toBe(true);
  });

  it("does not let parts grow a record without end", () => {
    let state = fresh("admit");
    for (let part = 0; part < 1024; part += 1) {
      state = run(state, [1, { type: "progress", phase: "admit", step: "pull", part: `${part}` }]).state;
    }
    expect(run(state, [1, { type: "progress", phase: "admit", step: "pull", part: "more" }]).last).toEqual(
      why("too-many-steps"),
    );
    expect(
      run(state, [1, { type: "progress", phase: "admit", step: "pull", part: "7", position: 1 }]).last
        ?.applied,
    ).toBe(true);
  });

  it("arms a step's stall at the first listed step, and keeps it through steps that list none", () => {
    const stalls = [
      [10, "resolve", null],
      [20, "download", 120],
      [30, "verify", 130],
      [40, "extract", 340],
      [50, "download", 350],
    ] as const;
    let state = fresh();
    for (const [now, step, stallEndsAt] of stalls) {
      state = run(state, [now, progress({ step, position: now })]).state;
      expect(state.stallEndsAt).toBe(stallEndsAt);
    }
  });

  it("keeps no negative zero, which JSON would lose", () => {
    const { state } = run(fresh(), [1, progress({ position: -0 })]);
    expect(Object.is(state.marks[0]?.position, 0)).toBe(true);
  });
});
