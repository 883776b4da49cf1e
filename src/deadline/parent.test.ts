import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { applyDeadlineEvent } from "./apply.js";
import { PhasedDeadline } from "./phased-deadline.js";
import { readDeadline } from "./read.js";
import { startAttempt, type ParentDeadline, type StartResult } from "./start.js";
import type { DeadlineState } from "./state.js";

const plan = { phases: [{ name: "work", budgetMs: 100 }] };

const within = (parent: unknown, now = 50): StartResult =>
  startAttempt(plan, { attempt: "child", now, parent: parent as ParentDeadline });
const parent = (): DeadlineState => {
  const { state } = startAttempt(plan, { attempt: "parent", now: 0 });
  if (state === undefined) throw new Error("refused");
  return state;
};

describe("the reading of another deadline is a parent", () => {
  it("that bounds the attempt by the deadline in force", () => {
    expect(within(readDeadline(parent(), 50)).state?.parentDeadlineAt).toBe(100);
  });

  it.each([
    ["expired and nobody has written it", (state: DeadlineState) => state],
    ["expired", (state: DeadlineState) => applyDeadlineEvent(state, { type: "tick" }, 100).state],
    [
      "was completed",
      (state: DeadlineState) => applyDeadlineEvent(state, { type: "complete", attempt: "parent" }, 9).state,
    ],
    [
      "was cancelled",
      (state: DeadlineState) =>
        applyDeadlineEvent(state, { type: "cancel", attempt: "parent", reason: "stop" }, 9).state,
    ],
  ])("that leaves no room when it %s", (_, end) => {
    const reading = readDeadline(end(parent()), 100);
    expect(reading.deadlineAt).toBeNull();
    expect(within(reading, 100)).toEqual({ refused: "parent-too-short", remainingMs: 0 });
  });

  it("that bounds nothing when it is unlimited, also as JSON", () => {
    const unlimited = startAttempt({ phases: [{ name: "work" }] }, { attempt: "parent", now: 0 });
    if (unlimited.state === undefined) throw new Error("refused");
    const reading = readDeadline(unlimited.state, 50);
    for (const of of [reading, JSON.parse(JSON.stringify(reading)) as unknown])
      expect(within(of).state?.parentDeadlineAt).toBeNull();
  });
});

describe("what is no parent", () => {
  it.each([
    ["a live deadline", () => PhasedDeadline.start(plan, { attempt: "parent", clock: new VirtualClock() })],
    ["a state", parent],
    ["a misspelt field", () => ({ deadline: 5 })],
    ["a list of instants", () => [5]],
  ])("is refused by name: %s", (_, make) => {
    expect(() => within(make())).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", field: "parent" }) as Error,
    );
  });

  it.each([-1, Number.NaN, "0"])("is refused by what is left of it: %j", (remainingMs) => {
    expect(() => within({ deadlineAt: 90, remainingMs })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", field: "parent.remainingMs" }) as Error,
    );
  });
});
