import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { condition, time } from "../../test/conditions/stored-condition.js";
import {
  type Condition,
  type ConditionUpdate,
  getCondition,
  setCondition,
  validateCondition,
} from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

const at = Date.UTC(2026, 0, 1, 12, 0, 0, 700);

const later = at + 60_000;
const starting: ConditionUpdate = { type: "Ready", status: "False", reason: "Starting", message: "" };

it("says of a time that is none what is expected", () => {
  const update = { type: "Ready", status: "True", reason: "AllUp", message: "" } as const;
  for (const now of [undefined, Number.NaN, "12:00"])
    expect(() => setCondition([], update, now as never)).toThrow(`Invalid now, in epoch ms: ${now}`);
});

describe("setCondition", () => {
  it("appends a type it has not seen, with the time in whole seconds", () => {
    expect(setCondition([], starting, at)).toEqual([condition()]);
  });

  it("returns the very same array when nothing changed", () => {
    const list = setCondition([], { ...starting, observedGeneration: 2, generalReasons: ["A"] }, at);
    expect(setCondition(list, { ...starting, observedGeneration: 2, generalReasons: ["A"] }, later)).toBe(
      list,
    );
    expect(setCondition([condition()], { ...starting, generalReasons: [] }, later)).toHaveLength(1);
  });

  it("takes an absent optional field, an empty list and null for the same", () => {
    const list = [condition({ cause: null as never, observedGeneration: null as never })];
    expect(setCondition(list, { ...starting, generalReasons: [] }, later)).toBe(list);
  });

  it("moves the time when the status changes and only then", () => {
    const list = setCondition([], starting, at);
    const reworded = setCondition(list, { ...starting, reason: "Resumed", message: "again" }, later);
    expect(getCondition(reworded, "Ready")).toMatchObject({ reason: "Resumed", lastTransitionTime: time });
    const ready = setCondition(reworded, { ...starting, status: "True", reason: "DependenciesReady" }, later);
    expect(getCondition(ready, "Ready")?.lastTransitionTime).toBe("2026-01-01T12:01:00Z");
  });

  it("stamps a new generation without moving the time", () => {
    const list = setCondition([], { ...starting, observedGeneration: 1 }, at);
    const next = setCondition(list, { ...starting, observedGeneration: 2 }, later);
    expect(next).not.toBe(list);
    expect(next[0]).toMatchObject({ observedGeneration: 2, lastTransitionTime: time });
  });

  it("uses the writer's own time where the status changed, in UTC and whole seconds", () => {
    const own = { ...starting, lastTransitionTime: "2026-01-01T13:30:00.999+02:00" };
    expect(setCondition([], own, at)[0]?.lastTransitionTime).toBe("2026-01-01T11:30:00Z");
    const unreadable = { ...starting, lastTransitionTime: "yesterday" };
    expect(setCondition([], unreadable, at)[0]?.lastTransitionTime).toBe(time);
  });

  it("replaces a stored time that is none with the next change, and not before", () => {
    const list = [condition({ lastTransitionTime: "" })];
    expect(setCondition(list, starting, at)).toBe(list);
    expect(setCondition(list, { ...starting, reason: "Resumed" }, at)[0]?.lastTransitionTime).toBe(time);
  });

  it("drops what the writer no longer states, and keeps what a newer peer added", () => {
    const stored = { ...condition({ cause: { reason: "X", message: "" } }), severity: "Info" };
    const [next] = setCondition([stored], { ...starting, reason: "Resumed" }, later);
    expect(next).toEqual({ ...condition({ reason: "Resumed" }), severity: "Info" });
    const same = [{ ...condition(), severity: "Info", nested: { a: [1] } }];
    expect(setCondition(same, starting, later)).toBe(same);
    expect(setCondition(same, { ...starting, severity: "Info", nested: { a: [1] } } as never, later)).toBe(
      same,
    );
    expect(setCondition(same, { ...starting, severity: "Error" } as never, later)[0]).toMatchObject({
      severity: "Error",
    });
  });

  it("tells an empty list from an empty object in a field that it does not know", () => {
    const list = [{ ...condition(), details: [] }];
    expect(setCondition(list, { ...starting, details: {} } as never, later)).not.toBe(list);
    expect(setCondition(list, { ...starting, details: [] } as never, later)).toBe(list);
  });

  it("reduces twins to one, keeping the time of the one that speaks", () => {
    const stale = condition({
      status: "True",
      observedGeneration: 1,
      lastTransitionTime: "2026-01-01T11:00:00Z",
    });
    const speaking = condition({ observedGeneration: 2 });
    for (const list of [
      [stale, speaking],
      [speaking, stale],
    ]) {
      const next = setCondition(list, { ...starting, observedGeneration: 2 }, later);
      expect(next).toEqual([speaking]);
      expect(setCondition(next, { ...starting, observedGeneration: 2 }, later)).toBe(next);
    }
  });

  it("makes foreign strings acceptable to Kubernetes and stays a no-op when they are stated again", () => {
    const foreign: ConditionUpdate = {
      type: "my type!",
      status: "true" as never,
      reason: "OOM killed!",
      message: "x".repeat(40_000),
      cause: { reason: "exit 137", message: "" },
      generalReasons: ["no-hyphen"],
    };
    const list = setCondition([], foreign, at);
    expect(list[0]).toMatchObject({
      type: "my-type",
      status: "True",
      reason: "OOM_killed",
      cause: { reason: "exit_137" },
      generalReasons: ["no_hyphen"],
    });
    expect(validateCondition(list[0])).toEqual([]);
    expect(setCondition(list, foreign, later)).toBe(list);
  });

  it("makes a type of a name without any letter that a type may have, and of two such names two", () => {
    const names = [
      "\u0413\u043e\u0442\u043e\u0432",
      "\u6e96\u5099",
      "\u{1f680}",
      "\u{1f681}",
      "\ud800",
      "\u00e9".repeat(400),
    ];
    const list = names.reduce<readonly Condition[]>(
      (all, type) => setCondition(all, { ...starting, type }, at),
      [],
    );
    expect(new Set(list.map(({ type }) => type)).size).toBe(names.length);
    for (const condition of list) expect(validateCondition(condition)).toEqual([]);
    for (const type of names) expect(setCondition(list, { ...starting, type }, at)).toBe(list);
  });

  it("takes null for an absent field, also one that it does not know, and an own __proto__ for a field", () => {
    const list = setCondition([], { ...starting, severity: null } as ConditionUpdate, at);
    expect(setCondition(list, starting, at)).toBe(list);
    const known = setCondition([], starting, at);
    expect(setCondition(known, { ...starting, severity: null } as ConditionUpdate, at)).toBe(known);
    const own = JSON.parse('{"__proto__":{}}') as object;
    const told = setCondition(known, { ...starting, extra: own } as ConditionUpdate, at);
    expect(told).not.toBe(known);
    expect(setCondition(told, { ...starting, extra: {} } as ConditionUpdate, at)).not.toBe(told);
    expect(setCondition(told, { ...starting, extra: own } as ConditionUpdate, at)).toBe(told);
  });

  it("refuses a type that no name can be made of, and a time that is no instant", () => {
    expect(() => setCondition([], { ...starting, type: "!!" }, at)).toThrow(
      expect.objectContaining({ code: "INVALID_CONDITION", field: "type" }),
    );
    for (const now of [NaN, Infinity, 1e18]) {
      expect(() => setCondition([], starting, now)).toThrow(
        expect.objectContaining({ code: "INVALID_INSTANT" }),
      );
    }
  });

  it("is idempotent, independent of the order over types, and always acceptable to Kubernetes", () => {
    const update = fc.record({
      type: fc.constantFrom("Ready", "Suspended", "Finished"),
      status: fc.constantFrom("True" as const, "False" as const, "Unknown" as const),
      reason: fc.string({ unit: "binary" }),
      message: fc.string(),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(update, { selector: ({ type }) => type }),
        fc.integer({ min: 0, max: 2e12 }),
        (updates, now) => {
          const build = (order: ConditionUpdate[]) =>
            order.reduce((list: readonly Condition[], next) => setCondition(list, next, now), []);
          const list = build(updates);
          const byType = (a: Condition, b: Condition) => (a.type < b.type ? -1 : 1);
          expect([...build([...updates].reverse())].sort(byType)).toEqual([...list].sort(byType));
          for (const next of updates) expect(setCondition(list, next, now + 1)).toBe(list);
          expect(list.flatMap(validateCondition)).toEqual([]);
        },
      ),
    );
  });
});

describe("setCondition, on what a peer stored", () => {
  it("states a reason anew that Kubernetes would refuse, although the writer repeats it", () => {
    const list = [condition({ reason: "is up" })];
    const next = setCondition(list, { ...list[0], reason: "is up" } as Condition, 0);
    expect(next[0]?.reason).toBe("is_up");
    expect(setCondition(next, { ...list[0], reason: "is up" } as Condition, 0)).toBe(next);
  });

  it("keeps the time in whole seconds", () => {
    const list = [condition({ lastTransitionTime: "2026-01-01T01:00:00.75+01:00" })];
    const [next] = setCondition(list, { ...condition({ message: "new" }), lastTransitionTime: undefined }, 0);
    expect(next?.lastTransitionTime).toBe("2026-01-01T00:00:00Z");
  });

  it("takes an impossible date for no time", () => {
    for (const day of ["2026-02-30", "2026-04-31", "2025-02-29"]) {
      const [next] = setCondition(
        [condition({ lastTransitionTime: `${day}T00:00:00Z` })],
        { ...condition({ message: "new" }), lastTransitionTime: undefined },
        0,
      );
      expect(next?.lastTransitionTime).toBe("1970-01-01T00:00:00Z");
    }
  });
});
