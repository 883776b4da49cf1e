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

  it("takes time that grows with the list, not with its square", () => {
    const long = Array.from({ length: 20_000 }, (_, at) => condition(`T${at}`, "True"));
    const started = performance.now();
    expect(mergeConditions(long, long, long, ["T1"])).toBe(long);
    expect(performance.now() - started).toBeLessThan(3000);
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
