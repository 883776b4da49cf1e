import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { condition } from "../../test/conditions/stored-condition.js";
import { conditionIsTrue, getCondition, removeCondition, summarize } from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

describe("getCondition", () => {
  it("reads an absent condition as Unknown, so it is not true", () => {
    expect(getCondition([], "Ready")).toBeUndefined();
    expect(conditionIsTrue([], "Ready")).toBe(false);
  });

  it("takes a negative generation for no claim", () => {
    const none = condition({
      observedGeneration: -5,
      status: "True",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    });
    const absent = condition({ status: "False", lastTransitionTime: "2026-01-02T00:00:00Z" });
    expect(getCondition([none, absent], "Ready")).toBe(absent);
    expect(getCondition([absent, none], "Ready")).toBe(absent);
    expect(summarize([none], { generation: 3 }).stale).toBe(false);
  });

  it("takes types for exact strings, as removeCondition does", () => {
    const list = [condition({ type: "READY", status: "True" })];
    expect(conditionIsTrue(list, "Ready")).toBe(false);
    expect(removeCondition(list, "Ready")).toBe(list);
    expect(conditionIsTrue([...list, condition()], "READY")).toBe(true);
  });

  it("resolves twins by generation, then time, never by position", () => {
    const field = fc.record({
      status: fc.constantFrom("True" as const, "False" as const, "Unknown" as const),
      reason: fc.constantFrom("A", "B", "C"),
      observedGeneration: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
      lastTransitionTime: fc.constantFrom(
        "",
        "2026-01-01T00:00:00Z",
        "2026-01-01T01:00:00+02:00",
        "yesterday",
      ),
    });
    const twins = fc.array(field.map(condition), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(twins, fc.infiniteStream(fc.nat()), (list, random) => {
        const shuffled = list
          .map((value) => ({ value, key: random.next().value as number }))
          .sort((a, b) => a.key - b.key);
        const speaking = getCondition(list, "Ready");
        expect(
          getCondition(
            shuffled.map(({ value }) => value),
            "Ready",
          ),
        ).toEqual(speaking);
        const generations = list.map((twin) => twin.observedGeneration ?? -1);
        expect(speaking?.observedGeneration ?? -1).toBe(Math.max(...generations));
      }),
    );
  });

  it("lets the cautious one of two equal claims speak", () => {
    const [yes, no] = [condition({ status: "True" }), condition({ status: "False" })];
    expect(getCondition([yes, no], "Ready")?.status).toBe("False");
    expect(getCondition([no, yes], "Ready")?.status).toBe("False");
  });

  it("takes the later instant, whatever its offset", () => {
    const early = condition({ reason: "Early", lastTransitionTime: "2026-01-01T01:00:00+02:00" });
    const late = condition({ reason: "Late", lastTransitionTime: "2026-01-01T00:00:00Z" });
    expect(getCondition([late, early], "Ready")?.reason).toBe("Late");
    expect(getCondition([early, late], "Ready")?.reason).toBe("Late");
  });
});

describe("removeCondition", () => {
  it("removes every twin, and returns the very same array when there was none", () => {
    const list = [condition(), condition({ type: "Suspended" }), condition()];
    expect(removeCondition(list, "Ready")).toEqual([condition({ type: "Suspended" })]);
    expect(removeCondition(list, "Finished")).toBe(list);
  });
});
