import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Condition,
  conditionIsTrue,
  convertConditions,
  getCondition,
  matchesReason,
  mergeConditions,
  parseConditions,
  removeCondition,
  sandboxReasons,
  setCondition,
  summarize,
  validateCondition,
} from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

/** Lists as a peer may send them: with anything between the conditions. */
const ready: Condition = {
  type: "Ready",
  status: "True",
  reason: "A",
  message: "m",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
const other: Condition = { ...ready, type: "Other" };
const listOf = (...items: unknown[]) => items as Condition[];
const options = { catalog: sandboxReasons, contract: 1 };
/** A value that is nested deeper than a stack goes. */
function deep(levels = 100_000): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { value };
  return value;
}

describe.each<[string, unknown]>([
  ["null", null],
  ["undefined", undefined],
  ["a number", 7],
  ["a word", "Ready"],
  ["an empty list", []],
  ["an object without a type", { status: "True" }],
])("a list that holds %s", (_name, odd) => {
  const list = listOf(odd, ready, odd);

  it("is read around it", () => {
    expect(getCondition(list, "Ready")).toBe(ready);
    expect(getCondition(list, "Absent")).toBeUndefined();
    expect(conditionIsTrue(list, "Ready")).toBe(true);
    expect(summarize(list).text).toBe("Ready=True A: m");
    expect(summarize(listOf(odd)).text).toBe("Ready=Unknown NotYetReported");
    expect(parseConditions(list)).toEqual([ready]);
    expect(convertConditions(list, options)).toBe(list);
    expect(() => matchesReason(odd as Condition, "A")).not.toThrow();
    expect(() => validateCondition(odd)).not.toThrow();
  });

  it("is written around it", () => {
    const update = { type: "Ready", status: "True", reason: "A", message: "m" } as const;
    expect(setCondition(list, update, 0)).toBe(list);
    expect(setCondition(list, { ...update, reason: "B" }, 0)).toEqual([odd, { ...ready, reason: "B" }, odd]);
    expect(setCondition(list, { ...update, type: "New" }, 0)).toHaveLength(4);
    expect(removeCondition(list, "Ready")).toEqual([odd, odd]);
    expect(removeCondition(list, "Absent")).toBe(list);
  });

  it("is merged around it", () => {
    expect(mergeConditions(list, list, list, ["Ready"])).toBe(list);
    expect(mergeConditions([], listOf(odd, other), list, ["Other"])).toEqual([odd, ready, odd, other]);
    expect(mergeConditions(list, listOf(odd), list, ["Ready"])).toEqual([odd, odd]);
  });
});

describe("two conditions of a type", () => {
  it("that differ in anything are told apart by it and never by their position", () => {
    const words = fc.constantFrom<unknown>(1, "1", true, "true", null, "null", "", {}, []);
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        words,
        fc.array(tie("value"), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom("0", "a", "b"), tie("value"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(value, value, (one, two) => {
        const twins = listOf({ ...ready, extra: one }, { ...ready, extra: two });
        expect(getCondition(twins.toReversed(), "Ready")).toEqual(getCondition(twins, "Ready"));
      }),
      { numRuns: 3000 },
    );
    const flat = [
      { extra: { a: {}, b: { x: 1 } } },
      { extra: { a: { x: 1 }, b: {} } },
      { extra: { a: [], b: { 0: "x" } } },
      { extra: { a: {}, b: ["x"] } },
    ];
    for (const one of flat)
      for (const two of flat) {
        const twins = listOf({ ...ready, ...one }, { ...ready, ...two });
        expect(getCondition(twins.toReversed(), "Ready")).toEqual(getCondition(twins, "Ready"));
      }
  });
});

describe("a condition with a deep value in it", () => {
  const fields = { extra: deep(), cause: { reason: "C", message: "", more: deep() } };
  const again = { extra: deep(), cause: { reason: "C", message: "", more: deep() } };

  it("is compared, merged, converted and read", () => {
    const list = listOf({ ...ready, ...fields });
    const update = { type: "Ready", status: "True", reason: "A", message: "m" } as const;
    expect(setCondition(list, { ...update, ...again }, 0)).toBe(list);
    expect(setCondition(list, { ...update, ...again, cause: undefined }, 0)).not.toBe(list);
    expect(mergeConditions(list, listOf({ ...ready, ...again }), list, ["Ready"])).toBe(list);
    expect(convertConditions(list, options)).toBe(list);
    expect(parseConditions(list)).toHaveLength(1);
  });

  it("is told from its twin by content and never by position", () => {
    const twins = [
      { ...ready, extra: [deep(), 1] },
      { ...ready, extra: [deep(), 2] },
    ];
    const first = getCondition(listOf(...twins), "Ready");
    expect(getCondition(listOf(...twins.toReversed()), "Ready")).toBe(first);
  });

  it("is not followed round in a circle", () => {
    const circle = (): object => {
      const value: Record<string, unknown> = {};
      value["self"] = value;
      return value;
    };
    const list = listOf({ ...ready, extra: circle() }, { ...ready, extra: circle() });
    expect(getCondition(list, "Ready")).toBeDefined();
    const single = listOf({ ...ready, extra: circle() });
    expect(() => setCondition(single, { ...ready, extra: circle() } as Condition, 0)).not.toThrow();
  });
});

describe("the reader's functions", () => {
  const anything = fc.anything({ withNullPrototype: true, withDate: true, withBigInt: true });
  const field = fc.constantFrom(
    "type",
    "status",
    "reason",
    "message",
    "cause",
    "generalReasons",
    "convertedFrom",
    "unread",
    "observedGeneration",
    "lastTransitionTime",
  );
  const entry = fc.oneof(
    anything,
    fc.dictionary(field, anything),
    fc.record({
      type: fc.constantFrom("Ready", "Other"),
      status: anything,
      reason: anything,
      message: anything,
    }),
  );

  it("never throw, whatever a peer's list holds", () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 5 }),
        fc.array(entry, { maxLength: 5 }),
        anything,
        (items, more, reason) => {
          const [list, mine] = [listOf(...items), listOf(...more)];
          getCondition(list, "Ready");
          conditionIsTrue(list, "Ready");
          removeCondition(list, "Ready");
          convertConditions(list, options);
          mergeConditions(list, mine, list, ["Ready"]);
          parseConditions(list);
          setCondition(list, { type: "Ready", status: "True", reason: "A", message: "" }, 0);
          for (const item of list) {
            validateCondition(item);
            matchesReason(item, reason as string);
          }
          // A summary is text for people, of strings.
          summarize(parseConditions(list));
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each<[unknown]>([[null], [undefined], [""]])("match no reason that is %j", (reason) => {
    for (const condition of [{ reason }, { generalReasons: [reason] }, { cause: { reason } }, null])
      expect(matchesReason(condition as never, reason as never)).toBe(false);
  });
});

describe("matchesReason over the contracts", () => {
  const stored: Condition = {
    ...ready,
    status: "False",
    reason: "IsolationBackendMismatch",
    generalReasons: ["ImagePreparationTimedOut"],
  };
  const at = (contract: number) => convertConditions([stored], { catalog: sandboxReasons, contract })[0];

  it("gives one answer, and with cause: false what the contract shows", () => {
    for (const name of ["IsolationBackendMismatch", "ImagePreparationTimedOut", "Starting"])
      expect(matchesReason(at(1), name)).toBe(matchesReason(at(2), name));
    expect(matchesReason(at(2), "IsolationBackendMismatch", { cause: false })).toBe(true);
    expect(matchesReason(at(1), "IsolationBackendMismatch", { cause: false })).toBe(false);
    for (const contract of [1, 2])
      expect(matchesReason(at(contract), "ImagePreparationTimedOut", { cause: false })).toBe(true);
  });
});
