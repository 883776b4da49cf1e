import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSlipwayError } from "../errors.js";
import { applyDeadlineEvent } from "./apply.js";
import type { DeadlineEvent } from "./event.js";
import { readDeadline } from "./read.js";
import { startAttempt } from "./start.js";
import type { DeadlineState } from "./state.js";

const attempt = "a1";
const plan = {
  phases: [
    { name: "prepare", budgetMs: 1000, stallMs: { download: 100, extract: 300 } },
    { name: "admit", budgetMs: 500, renewOn: "change" as const },
    { name: "settle", budgetMs: 500 },
  ],
  ceilingMs: 5000,
  cleanupBudgetMs: 50,
};

function fresh(phase?: string, definition: Parameters<typeof startAttempt>[0] = plan): DeadlineState {
  const configuration = { generation: 1, digest: "d1", committedAt: 0 };
  const { state } = startAttempt(definition, { attempt, now: 0, phase, configuration });
  if (state === undefined) throw new Error("refused");
  return state;
}

type WithoutAttempt = DeadlineEvent extends infer E
  ? E extends DeadlineEvent
    ? Omit<E, "attempt">
    : never
  : never;

/** Applies events at their instants and returns the last state with all outcomes. */
function run(state: DeadlineState, ...steps: readonly (readonly [number, WithoutAttempt])[]) {
  const outcomes = steps.map(([now, event]) => {
    const step = applyDeadlineEvent(state, { attempt, ...event } as DeadlineEvent, now);
    state = step.state;
    return step.outcome;
  });
  return { state, outcomes, last: outcomes.at(-1) };
}

const why = (reason: string) => ({ applied: false, why: reason, changed: false });

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

describe("change", () => {
  const change = (generation: number, digest?: string, committedAt?: number): WithoutAttempt => ({
    type: "change",
    generation,
    digest,
    committedAt,
  });

  it("renews from the commit and not from its delivery, and never shortens", () => {
    expect(run(fresh("admit"), [400, change(2, "d2", 300)]).state.windowEndsAt).toBe(800);
    const early = run(fresh("admit"), [400, change(2, "d2", 300)], [450, change(3, "d3", 300)]);
    expect(early.last).toEqual({ applied: true, changed: true, renewed: false });
    expect(early.state).toMatchObject({ windowEndsAt: 800, configuration: { generation: 3 } });
  });

  it("with a commit in the future counts as committed now", () => {
    expect(run(fresh("admit"), [400, change(2, "d2", 99_999)]).state).toMatchObject({
      windowEndsAt: 900,
      configuration: { committedAt: 400 },
    });
  });

  it("is refused when its generation is not greater, or its commit is older than the recorded one", () => {
    const state = run(fresh("admit"), [400, change(5, "d2", 300)]).state;
    expect(run(state, [410, change(5, "d3")]).last).toEqual(why("unchanged"));
    expect(run(state, [410, change(4, "d3")]).last).toEqual(why("unchanged"));
    expect(run(state, [410, change(6, "d3", 299)]).last).toEqual(why("stale-commit"));
  });

  it("with the same content is a no-op write: recorded, and nothing is renewed", () => {
    const { state, last } = run(fresh("admit"), [400, change(2, "d1")]);
    expect(last).toEqual({ applied: true, changed: true, renewed: false });
    expect(state).toMatchObject({
      windowEndsAt: 500,
      configuration: { generation: 2, digest: "d1", committedAt: 400 },
    });
  });

  it("without a digest is a real change, for unknown content is not equal content", () => {
    expect(run(fresh("admit"), [400, change(2)]).last).toMatchObject({ renewed: true });
  });

  it("before any configuration was known is the baseline", () => {
    const { state } = startAttempt(plan, { attempt, now: 0, phase: "admit" });
    const first = run(state!, [100, change(7, "d7")]);
    expect(first.last).toEqual({ applied: true, changed: true, renewed: false });
    expect(run(first.state, [200, change(8, "d8")]).last).toMatchObject({ renewed: true });
  });

  it("outside a phase that renews is recorded only", () => {
    const { state, last } = run(fresh(), [400, change(2, "d2")]);
    expect(last).toMatchObject({ renewed: false });
    expect(state).toMatchObject({ windowEndsAt: 1000, configuration: { generation: 2 } });
  });

  it("while paused counts from the pause, or from the commit when that was before it", () => {
    const paused = run(fresh("admit"), [300, { type: "pause", seq: 1 }]).state;
    expect(run(paused, [400, change(2, "d2", 350)]).state.windowEndsAt).toBe(800);
    expect(run(paused, [400, change(2, "d2", 200)]).state.windowEndsAt).toBe(700);
  });

  it("renews no phase without a budget", () => {
    const unlimited = { phases: [{ name: "admit", renewOn: "change" as const }] };
    expect(run(fresh("admit", unlimited), [400, change(2, "d2")]).last).toMatchObject({ renewed: false });
  });
});

describe("reject", () => {
  const reject = (generation: number, rest: object = {}): WithoutAttempt => ({
    type: "reject",
    generation,
    ...rest,
  });
  const change = (generation: number, digest: string): WithoutAttempt => ({
    type: "change",
    generation,
    digest,
  });

  it("opens one window for its content, whatever is invented afterwards", () => {
    const { state, outcomes } = run(
      fresh("admit"),
      [100, reject(1, { digest: "d1", reason: "Invalid", message: "no such host" })],
      [200, reject(1)],
      [200, reject(1, { message: "another message" })],
      [200, change(2, "d1")],
      [300, reject(2)],
    );
    expect(outcomes).toEqual([
      { applied: true, changed: true, renewed: true },
      why("duplicate"),
      why("duplicate"),
      { applied: true, changed: true, renewed: false },
      why("duplicate"),
    ]);
    expect(state).toMatchObject({
      windowEndsAt: 600,
      rejection: { reason: "Invalid", message: "no such host" },
    });
  });

  it("of content that was refused before is news but no new window", () => {
    const { outcomes, state } = run(
      fresh("admit"),
      [100, reject(1)],
      [110, change(2, "d2")],
      [120, reject(2)],
      [130, change(3, "d1")],
      [140, reject(3, { message: "still wrong" })],
    );
    expect(outcomes.map((outcome) => outcome.applied && outcome.renewed)).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    expect(state).toMatchObject({ windowEndsAt: 630, rejection: { generation: 3, message: "still wrong" } });
  });

  it.each([
    ["of another generation", 2, {}],
    ["of other content", 1, { digest: "d9" }],
  ])("%s is not current", (_what, generation, rest) => {
    expect(run(fresh("admit"), [100, reject(generation, rest)]).last).toEqual(why("not-current"));
  });

  it("is refused where no configuration is known, and in a phase that admits nothing", () => {
    const { state } = startAttempt(plan, { attempt, now: 0, phase: "admit" });
    expect(run(state!, [100, reject(1)]).last).toEqual(why("not-current"));
    expect(run(fresh(), [100, reject(1)]).last).toEqual(why("other-phase"));
  });

  it("keeps a bounded diagnostic, and a real change forgets it", () => {
    const { state } = run(fresh("admit"), [
      100,
      reject(1, { reason: "r".repeat(999), message: "m".repeat(99_999) }),
    ]);
    expect(state.rejection?.reason).toHaveLength(256);
    expect(state.rejection?.message).toHaveLength(2048);
    expect(run(state, [110, change(2, "d2")]).state.rejection).toBe(null);
  });

  it("while paused counts from the pause", () => {
    const { state } = run(fresh("admit"), [300, { type: "pause", seq: 1 }], [400, reject(1)]);
    expect(state.windowEndsAt).toBe(800);
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

describe("cleanup", () => {
  const expired = run(fresh(), [1000, { type: "tick" }]).state;
  const claim = (owner: string): WithoutAttempt => ({ type: "claim-cleanup", owner });
  const done = (number: number, ok: boolean, error?: string): WithoutAttempt => ({
    type: "cleanup-done",
    claim: number,
    ok,
    error,
  });

  it("is claimed by one owner at a time, who may come again", () => {
    const { outcomes } = run(
      expired,
      [1001, claim("g1")],
      [1002, claim("g2")],
      [1003, claim("g1")],
      [1003, done(1, true)],
      [1004, done(2, true)],
      [1005, done(2, true)],
      [1006, claim("g2")],
    );
    expect(outcomes).toEqual([
      { applied: true, changed: true, claim: 1 },
      why("claimed"),
      { applied: true, changed: true, claim: 2 },
      why("not-owner"),
      { applied: true, changed: true },
      why("not-owner"),
      why("not-needed"),
    ]);
  });

  it("passes on when the lease is over, and keeps the failure", () => {
    const { state, outcomes } = run(expired, [1001, claim("g1")], [1051, claim("g2")], [1052, done(1, true)]);
    expect(outcomes[1]).toMatchObject({ claim: 2 });
    expect(outcomes[2]).toEqual(why("not-owner"));
    expect(state.cleanup).toMatchObject({ status: "pending", error: "cleanup did not finish within 0.05 s" });
  });

  it("is not needed by an attempt that lives or completed", () => {
    expect(run(fresh(), [1, claim("g")]).last).toEqual(why("not-needed"));
    expect(run(fresh("settle"), [1, { type: "complete" }], [2, claim("g")]).last).toEqual(why("not-needed"));
    expect(run(fresh(), [1, done(0, true)]).last).toEqual(why("not-owner"));
  });

  it("may be waived by an operator, on the record", () => {
    const { state, outcomes } = run(
      expired,
      [1001, claim("g1")],
      [1002, { type: "waive-cleanup", by: "ops", reason: "the host is gone" }],
      [1003, done(1, true)],
      [1004, { type: "waive-cleanup", by: "ops", reason: "again" }],
    );
    expect(state.cleanup).toMatchObject({
      status: "waived",
      claim: null,
      waiver: { by: "ops", reason: "the host is gone", at: 1002 },
    });
    expect(outcomes.slice(2)).toEqual([why("not-owner"), why("not-needed")]);
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
