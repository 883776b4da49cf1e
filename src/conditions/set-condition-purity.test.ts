import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Condition, ConditionUpdate } from "./condition.js";
import { setCondition } from "./condition-list.js";
import { parseConditions } from "./parse-conditions.js";

const word = fc.constantFrom("Up", "oom killed", "", "Not started", "Down");
const odd = fc.record(
  {
    type: fc.constantFrom("Ready", "my type"),
    status: fc.constantFrom("True", "False", "true", "maybe"),
    reason: word,
    message: fc.constantFrom("", "why", "x".repeat(40_000)),
    cause: fc.record({ reason: word, message: word }),
    generalReasons: fc.array(word, { maxLength: 2 }),
    observedGeneration: fc.constantFrom(-1, 0, 3),
  },
  { requiredKeys: ["type", "status", "reason", "message"] },
);

describe("setCondition", () => {
  it("is a function of its arguments: what was asked before changes no answer", () => {
    fc.assert(
      fc.property(odd, odd, (stored, next) => {
        const list = [{ ...stored, lastTransitionTime: "2026-01-01T00:00:00Z" }] as unknown as Condition[];
        const update = next as ConditionUpdate;
        const first = setCondition(list, update, 0);
        expect(setCondition(list, update, 0)).toEqual(first);
        // Stating what is stored makes it known, where it is acceptable: the answers stay.
        setCondition(list, list[0] as ConditionUpdate, 0);
        setCondition(list, list[0] as ConditionUpdate, 0);
        const again = setCondition(list, update, 0);
        expect(again).toEqual(first);
        expect(again === list).toBe(first === list);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("parseConditions", () => {
  it("does not take a text apart that stands where a condition should", () => {
    // 24 s when each character was looked at, and far below the test's limit now.
    const text = "x".repeat(1_000_000);
    expect(parseConditions(JSON.stringify(text))).toEqual([]);
    expect(parseConditions({ conditions: [text, { type: "A" }] })).toMatchObject([{ type: "A" }]);
  });
});
