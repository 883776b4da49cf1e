import { describe, expect, it } from "vitest";
import type { Condition, ConditionUpdate } from "./condition.js";
import { conditionIsTrue, getCondition, removeCondition, setCondition } from "./condition-list.js";
import { transitionTime } from "./transition-time.js";

const starting: ConditionUpdate = { type: "Ready", status: "False", reason: "Starting", message: "" };
const at = (seconds: number): number => Date.UTC(2027, 0, 15, 8, 0, seconds, 999);

describe("setCondition", () => {
  const list = setCondition([], starting, at(1));

  it("stamps whole seconds", () => {
    expect(list).toEqual([{ ...starting, lastTransitionTime: "2027-01-15T08:00:01Z" }]);
  });

  it("returns the same list when nothing changed", () => {
    expect(setCondition(list, { ...starting }, at(50))).toBe(list);
    expect(setCondition(list, { ...starting, generalReasons: [] }, at(50))).toBe(list);
  });

  it("moves the time with the status and with nothing else", () => {
    const other = setCondition(
      list,
      { ...starting, reason: "Pulling", message: "m", observedGeneration: 2 },
      at(9),
    );
    expect(other).toEqual([
      {
        ...starting,
        reason: "Pulling",
        message: "m",
        observedGeneration: 2,
        lastTransitionTime: "2027-01-15T08:00:01Z",
      },
    ]);
    expect(setCondition(other, { ...starting, status: "True" }, at(9))[0]?.lastTransitionTime).toBe(
      "2027-01-15T08:00:09Z",
    );
    const own = { ...starting, status: "True" as const, lastTransitionTime: "2026-01-01T00:00:00Z" };
    expect(setCondition(other, own, at(9))[0]?.lastTransitionTime).toBe("2026-01-01T00:00:00Z");
  });

  it.each([
    { cause: { reason: "IsolationBackendMismatch", message: "" } },
    { generalReasons: ["ImagePreparationTimedOut"] },
    { observedGeneration: 3 },
    { message: "other" },
  ])("sees a change of %o", (change) => {
    expect(setCondition(list, { ...starting, ...change }, at(9))).not.toBe(list);
  });

  it("keeps the other conditions and their order", () => {
    const two = setCondition(list, { ...starting, type: "Suspended" }, at(2));
    expect(
      setCondition(two, { ...starting, status: "True" }, at(3)).map((condition) => condition.type),
    ).toEqual(["Ready", "Suspended"]);
  });
});

describe("reading and removing", () => {
  const list: readonly Condition[] = [{ ...starting, lastTransitionTime: transitionTime(0) }];

  it("reads an absent condition as not true", () => {
    expect(getCondition(list, "Ready")).toBe(list[0]);
    expect(getCondition(list, "Suspended")).toBe(undefined);
    expect(conditionIsTrue(list, "Ready")).toBe(false);
    expect(conditionIsTrue(list, "Suspended")).toBe(false);
    expect(conditionIsTrue([{ ...list[0]!, status: "True" }], "Ready")).toBe(true);
  });

  it("removes by type, and returns the same list when there is nothing to remove", () => {
    expect(removeCondition(list, "Ready")).toEqual([]);
    expect(removeCondition(list, "Suspended")).toBe(list);
  });
});

describe("transitionTime", () => {
  it("holds instants beyond the four-digit years at their end", () => {
    expect(transitionTime(Number.MAX_SAFE_INTEGER)).toBe("9999-12-31T23:59:59Z");
    expect(transitionTime(-1)).toBe("1969-12-31T23:59:59Z");
    expect(transitionTime(Number.MIN_SAFE_INTEGER)).toBe("0000-01-01T00:00:00Z");
  });
});
