import { describe, expect, it } from "vitest";
import { Notifier } from "../events/index.js";
import { announce } from "./announce.js";
import { applyDeadlineEvent } from "./apply.js";
import type { DeadlineEvent } from "./event.js";
import type { DeadlineEvents } from "./live-events.js";
import { startAttempt } from "./start.js";
import type { DeadlineState } from "./state.js";

const attempt = "a1";
const preparation = { attempt, phase: "preparation" };

function fresh(): DeadlineState {
  const phases = [
    { name: "preparation", budgetMs: 1000 },
    { name: "admission", budgetMs: 1000, renewOn: "change" as const },
    { name: "open" },
  ];
  const plan = { phases, ceilingMs: 10_000 };
  const { state } = startAttempt(plan, { attempt, now: 0, configuration: { generation: 1 } });
  if (state === undefined) throw new Error("refused");
  return state;
}

function after(state: DeadlineState, events: readonly DeadlineEvent[], now: number): DeadlineState {
  return events.reduce((current, event) => applyDeadlineEvent(current, event, now).state, state);
}

/** What is told of a step from one state to another. */
function told(before: DeadlineState, next: DeadlineState, event?: DeadlineEvent): readonly unknown[] {
  const heard: unknown[] = [];
  const notifier = new Notifier<DeadlineEvents>((error) => {
    throw error;
  });
  for (const name of ["progress", "phase", "renewed", "expired", "settled"] as const) {
    notifier.on(name, (fact: unknown) => heard.push([name, fact]));
  }
  announce(notifier, before, next, event);
  return heard;
}

const report = (step: string | undefined, position?: number, run?: number): DeadlineEvent => ({
  type: "progress",
  attempt,
  phase: "preparation",
  step,
  position,
  run,
});
const mark = (step: string | null, position: number | null): unknown => [
  "progress",
  { ...preparation, step, part: null, position },
];

describe("announce", () => {
  it("tells nothing of what only passed the time", () => {
    const state = fresh();
    expect(told(state, state)).toEqual([]);
    expect(told(state, { ...state, observedAt: 500, version: 2 }, { type: "tick" })).toEqual([]);
  });

  it("tells the report that was applied, and no other mark", () => {
    const before = after(fresh(), [report("pull", 5), report("unpack", 1)], 1);
    const event = report("unpack", 2);
    expect(told(before, after(before, [event], 2), event)).toEqual([mark("unpack", 2)]);
    const bare = report(undefined);
    expect(told(fresh(), after(fresh(), [bare], 2), bare)).toEqual([mark(null, null)]);
  });

  it("tells of an adopted state the marks that it raised or began", () => {
    const before = after(fresh(), [report("pull", 5), report("unpack"), report("check", 0)], 1);
    const next = after(before, [report("pull", 6), report("verify", 0)], 2);
    expect(told(before, next)).toEqual([mark("pull", 6), mark("verify", 0)]);
    // A position where there was none is news, none in the place of none is not.
    expect(told(before, after(before, [report("unpack", 0)], 2))).toEqual([mark("unpack", 0)]);
    expect(told(before, after(before, [report("next")], 2))).toEqual([mark("next", null)]);
  });

  it("tells of an adopted later run all that it did", () => {
    const before = after(fresh(), [report("pull", 5)], 1);
    const next = after(before, [report("pull", 2, 1)], 2);
    expect(next.run).toBe(1);
    expect(told(before, next)).toEqual([mark("pull", 2)]);
  });

  it("tells a phase, and not the marks that were wiped or the window that is new with it", () => {
    const before = after(fresh(), [report("pull", 5)], 1);
    const enter: DeadlineEvent = { type: "enter", attempt, phase: "admission" };
    const next = after(before, [enter], 500);
    expect(next.windowEndsAt).toBeGreaterThan(before.windowEndsAt ?? 0);
    const entered = ["phase", { attempt, from: "preparation", to: "admission" }];
    expect(told(before, next, enter)).toEqual([entered]);
    // Adopted together with progress of the new phase, which belongs to another one than was known.
    const further = after(next, [{ ...report("check", 1), phase: "admission" } as DeadlineEvent], 500);
    expect(told(before, further)).toEqual([entered]);
  });

  it("tells a renewal, and none where a pause moved the window", () => {
    const before = after(fresh(), [{ type: "enter", attempt, phase: "admission" }], 0);
    const change: DeadlineEvent = { type: "change", attempt, generation: 2 };
    expect(told(before, after(before, [change], 300), change)).toEqual([
      ["renewed", { attempt, phase: "admission", windowEndsAt: 1300 }],
    ]);
    const paused = after(before, [{ type: "pause", attempt, seq: 1 }], 100);
    const resumed = after(paused, [{ type: "resume", attempt, seq: 2 }], 300);
    expect(resumed.windowEndsAt).toBe(1200);
    expect(told(before, resumed)).toEqual([]);
    expect(told(paused, resumed)).toEqual([]);
  });

  it("tells of no renewal where no window ends", () => {
    const open = after(fresh(), [{ type: "enter", attempt, phase: "open" }], 0);
    expect(open.windowEndsAt).toBeNull();
    expect(told(open, { ...open, version: 9 })).toEqual([]);
    expect(told(open, { ...open, windowEndsAt: 5 })).toEqual([]);
    expect(told({ ...open, windowEndsAt: 5 }, open)).toEqual([]);
  });

  it("tells an expiry and what became of the attempt, once", () => {
    const before = after(fresh(), [report("pull", 5)], 1);
    const expired = after(before, [{ type: "tick" }], 1000);
    expect(told(before, expired, { type: "tick" })).toEqual([
      ["expired", expired.expiry],
      ["settled", { attempt, status: "expired" }],
    ]);
    const claimed = after(expired, [{ type: "claim-cleanup", attempt, owner: "o" }], 1001);
    expect(told(expired, claimed)).toEqual([]);
    // What was adopted may have gone on before it ended: that it ended is what counts.
    const late = after(before, [report("pull", 6), { type: "cancel", attempt, reason: "x" }], 2);
    expect(told(before, late)).toEqual([["settled", { attempt, status: "cancelled" }]]);
  });
});
