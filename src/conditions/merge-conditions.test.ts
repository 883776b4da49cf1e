import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Condition, getCondition, mergeConditions } from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

function condition(
  type: string,
  status: Condition["status"],
  reason = "R",
  lastTransitionTime = "2026-01-01T00:00:00Z",
): Condition {
  return { type, status, reason, message: "", lastTransitionTime };
}

const later = "2026-01-01T00:01:00Z";

describe("mergeConditions", () => {
  it("gives the very same array where nothing changes, twins apart included", () => {
    const [a, b] = [condition("A", "True"), condition("B", "True")];
    const theirs = [a, b, { ...a, message: "twin" }];
    expect(mergeConditions(theirs, theirs, theirs, [])).toBe(theirs);
    expect(mergeConditions([b], [b], theirs, ["B"])).toBe(theirs);
  });

  it("does work that grows with the list, not with its square", () => {
    let looks = 0;
    const long = Array.from({ length: 2000 }, (_, at) => {
      const seen = condition(`T${at}`, "True");
      return Object.defineProperty({ ...seen }, "type", {
        enumerable: true,
        get: () => (looks++, seen.type),
      });
    });
    expect(mergeConditions(long, long, long, ["T1"])).toBe(long);
    expect(looks / long.length).toBeLessThan(30);
  });

  it("takes owned types from mine, their absence included, and leaves the rest to theirs", () => {
    const base = [
      condition("Ready", "False"),
      condition("Bootstrapping", "True"),
      condition("PodScheduled", "False"),
    ];
    const mine = [condition("Ready", "True"), condition("PodScheduled", "False")];
    const theirs = [
      condition("Ready", "Unknown"),
      condition("Bootstrapping", "True"),
      condition("PodScheduled", "True"),
    ];
    expect(mergeConditions(base, mine, theirs, ["Ready", "Bootstrapping"])).toEqual([
      condition("Ready", "True"),
      condition("PodScheduled", "True"),
    ]);
  });

  it("keeps my change of a type that nobody owns only where theirs left it alone", () => {
    const base = [condition("A", "False"), condition("B", "False")];
    const mine = [condition("A", "True"), condition("B", "True"), condition("C", "True")];
    const theirs = [condition("A", "False"), condition("B", "Unknown")];
    expect(mergeConditions(base, mine, theirs, [])).toEqual([
      condition("A", "True"),
      condition("B", "Unknown"),
      condition("C", "True"),
    ]);
    expect(mergeConditions(base, [], base, [])).toEqual([]);
  });

  it("does not move a time without a change of status", () => {
    const mine = [condition("Ready", "True", "Mine", later)];
    const theirs = [condition("Ready", "True", "Theirs")];
    expect(mergeConditions([], mine, theirs, ["Ready"])).toEqual([condition("Ready", "True", "Mine")]);
    expect(
      mergeConditions([], [condition("Ready", "True", "R", later)], [condition("Ready", "True")], ["Ready"]),
    ).toHaveLength(1);
  });

  it("does not keep a stored time that is none", () => {
    const theirs = [condition("Ready", "True", "R", "")];
    expect(
      mergeConditions([], [condition("Ready", "True", "R", later)], theirs, ["Ready"])[0]?.lastTransitionTime,
    ).toBe(later);
  });

  it("takes and keeps times in whole seconds, whoever brings them", () => {
    const fine = condition("Ready", "True", "R", "2026-01-01T00:00:00.123456Z");
    const offset = condition("Other", "True", "R", "2026-01-01T02:00:00.5+02:00");
    expect(mergeConditions([], [fine, offset], [], ["Ready"])).toEqual([
      condition("Ready", "True"),
      condition("Other", "True"),
    ]);
    expect(mergeConditions([], [fine], [condition("Ready", "False", "R", later)], ["Ready"])).toEqual([
      condition("Ready", "True"),
    ]);
    expect(mergeConditions([], [condition("Ready", "True", "New", later)], [fine], ["Ready"])).toEqual([
      condition("Ready", "True", "New"),
    ]);
    // What is stored stays as it is stored while nobody says anything else.
    for (const mine of [fine, condition("Ready", "True", "R", later)]) {
      const theirs = [fine];
      expect(mergeConditions(theirs, [mine], theirs, ["Ready"])).toBe(theirs);
    }
  });

  it("takes null for an absent field, at any depth, and a shorter list for another one", () => {
    const odd = (fields: object) => ({ ...condition("Ready", "True"), ...fields });
    const same: [object, object][] = [
      [{ cause: null, observedGeneration: null }, {}],
      [{ extra: { a: null, b: [1] } }, { extra: { b: [1] } }],
      [{ extra: null }, {}],
    ];
    for (const [a, b] of same.flatMap(([a, b]) => [
      [a, b],
      [b, a],
    ])) {
      const theirs = [odd(a as object)];
      expect(mergeConditions([], [odd(b as object)], theirs, ["Ready"])).toBe(theirs);
    }
    for (const extra of [[], [null, null], { length: 1 }, [{}]]) {
      const mine = odd({ extra });
      expect(mergeConditions([], [mine], [odd({ extra: [null] })], ["Ready"])).toEqual([mine]);
    }
    const own = odd({ extra: JSON.parse('{"__proto__":{}}') as object });
    const [merged] = mergeConditions([], [own], [odd({ extra: {} })], ["Ready"]);
    expect(JSON.stringify(merged)).toBe(JSON.stringify(own));
  });

  it("returns theirs itself when the merge changes nothing", () => {
    const theirs = [condition("Ready", "True"), { ...condition("Other", "True"), severity: "Info" }];
    expect(mergeConditions(theirs, theirs, theirs, ["Ready"])).toBe(theirs);
    expect(mergeConditions([], [condition("Ready", "True", "R", later)], theirs, ["Ready"])).toBe(theirs);
  });

  it("gives owned types as mine says and every other as theirs, where mine did not touch it", () => {
    const list = fc.uniqueArray(
      fc
        .tuple(
          fc.constantFrom("A", "B", "C", "D"),
          fc.constantFrom("True" as const, "False" as const),
          fc.constantFrom("X", "Y"),
        )
        .map(([type, status, reason]) => condition(type, status, reason)),
      { selector: ({ type }) => type },
    );
    fc.assert(
      fc.property(list, list, list, fc.subarray(["A", "B", "C", "D"]), (base, mine, theirs, owned) => {
        const merged = mergeConditions(base, mine, theirs, owned);
        expect(new Set(merged.map(({ type }) => type)).size).toBe(merged.length);
        for (const type of ["A", "B", "C", "D"]) {
          const [was, ours, stored] = [base, mine, theirs].map((each) => getCondition(each, type));
          const untouched = JSON.stringify(was) === JSON.stringify(ours);
          if (owned.includes(type)) expect(getCondition(merged, type)).toEqual(ours);
          else if (untouched) expect(getCondition(merged, type)).toEqual(stored);
          else expect([ours, stored]).toContainEqual(getCondition(merged, type));
        }
        expect(mergeConditions(base, mine, merged, owned)).toEqual(merged);
      }),
    );
  });
});
