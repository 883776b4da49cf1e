import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCatalog, emission, publish } from "../../../test/conditions/any-catalog.js";
import {
  A,
  B,
  base,
  entry,
  expectDifference,
  next,
  type,
} from "../../../test/conditions/compared-catalogs.js";
import { compareCatalogs, defineReasonCatalog, type ReasonCatalog } from "../index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

describe("compareCatalogs, kind by kind", () => {
  it("says of a cause that is gone that there is none", () => {
    const C = { ...entry, since: 2 };
    const before = {
      ...next,
      reasons: { A, B, C },
      emits: [{ ...base.emits[0], reason: "C", generalReasons: ["A"] }],
    };
    const after = { ...before, emits: [{ ...base.emits[0], reason: "A" }] };
    const found = compareCatalogs(before as never, after as never).filter(
      ({ kind }) => kind === "emission-cause",
    );
    expect(found.map(({ explanation }) => explanation)).toEqual([
      expect.stringContaining("Ready shows A without a cause where it showed the cause C"),
    ]);
    expect(found[0]?.remedies).toHaveLength(2);
  });

  it.each<[string, object, object, string]>([
    ["an emission gone", base, { ...base, emits: [] }, "breaking emission-removed"],
    [
      "an emission for another finding",
      base,
      { ...base, emits: [...base.emits, { operation: "o", cause: "d", type: "Ready", reason: "A" }] },
      "additive emission-added",
    ],
    [
      "another reason emitted",
      base,
      { ...base, emits: [{ ...base.emits[0], reason: "B" }] },
      "breaking emission-reason",
    ],
    [
      "a known general reason",
      base,
      { ...base, emits: [{ ...base.emits[0], generalReasons: ["B"] }] },
      "breaking emission-match",
    ],
    [
      "an emission of the next contract",
      base,
      {
        ...base,
        contract: 2,
        reasons: { A, B, C: { ...entry, since: 2 } },
        emits: [...base.emits, { ...base.emits[0], reason: "C", since: 2, generalReasons: ["A"] }],
      },
      "additive emission-added",
    ],
    [
      "an emission of the next contract that hides the old reason",
      base,
      {
        ...base,
        contract: 2,
        reasons: { A, B, C: { ...entry, since: 2 } },
        emits: [...base.emits, { ...base.emits[0], reason: "C", since: 2 }],
      },
      "breaking emission-reason",
    ],
    [
      "another cause beside the same reason",
      {
        ...next,
        reasons: { A, C: { ...entry, since: 2 }, D: { ...entry, since: 2 } },
        emits: [{ ...base.emits[0], reason: "C", generalReasons: ["D", "A"] }],
      },
      {
        ...next,
        reasons: { A, C: { ...entry, since: 2 }, D: { ...entry, since: 2 } },
        emits: [{ ...base.emits[0], reason: "D", generalReasons: ["C", "A"] }],
      },
      "breaking emission-cause",
    ],
    [
      "a known reason on another known type",
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
      },
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
        emits: [...base.emits, { ...base.emits[0], type: "Other" }],
      },
      "breaking emission-added",
    ],
    [
      "a shown reason on a new type beside",
      base,
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
        emits: [...base.emits, { ...base.emits[0], type: "Other" }],
      },
      "additive emission-added",
    ],
    [
      "a retired reason whose class was not kept",
      { ...next, retired: {}, reasons: { A, B, C: { ...entry, class: "waiting" } } },
      { ...next, contract: 3, retired: { C: { retiredIn: 3 } } },
      "breaking retired-class",
    ],
    [
      "a general reason no longer stated",
      { ...base, emits: [{ ...base.emits[0], reason: "B", generalReasons: ["A"] }] },
      { ...base, emits: [{ ...base.emits[0], reason: "B" }] },
      "breaking emission-match",
    ],
    [
      "a known name that nothing showed, on a condition beside",
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
        emits: [{ ...base.emits[0], reason: "B", generalReasons: ["A"] }],
      },
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A: { ...A, types: ["Ready", "Other"] }, B },
        emits: [
          { ...base.emits[0], reason: "B", generalReasons: ["A"] },
          { ...base.emits[0], type: "Other" },
        ],
      },
      "breaking emission-added",
    ],
    [
      "a new name on a condition beside",
      { ...base, types: { Ready: type, Other: type } },
      {
        ...base,
        types: { Ready: type, Other: type },
        reasons: { A, B, C: { ...entry, types: ["Other"] } },
        emits: [...base.emits, { ...base.emits[0], type: "Other", reason: "C" }],
      },
      "additive emission-added",
    ],
  ])("judges %s", (_name, before, after, expected) => {
    expectDifference(before, after, expected);
  });

  it("names with each explanation only the contracts for which it holds", () => {
    // Readers of contract 1 lose A; readers of contract 2 know B and lose that.
    const [one, two] = [1, 2].map((since) => ({ ...entry, since }));
    const before = defineReasonCatalog({
      ...base,
      contract: 4,
      reasons: { A: one, B: two, C: one },
      emits: [{ ...base.emits[0], reason: "B", generalReasons: ["A"] }],
    } as never);
    const after = defineReasonCatalog({ ...before, emits: [{ ...base.emits[0], reason: "C" }] } as never);
    const found = compareCatalogs(before, after);
    expect(found.map(({ contracts, explanation }) => [contracts, explanation])).toEqual([
      [[1], expect.stringMatching(/shows C where it showed A.*reason == "A".*\(contract 1\)$/)],
      [[2, 3, 4], expect.stringMatching(/shows C where it showed B.*reason == "B".*\(contract 2, 3, 4\)$/)],
    ]);
    for (const { remedies } of found) expect(remedies?.[1]).toContain('generalReasons: ["B","A"]');
  });

  it("says in no explanation what readers of a contract that it names do not see", () => {
    let claims = 0;
    fc.assert(
      fc.property(anyCatalog, fc.array(emission, { maxLength: 3 }), anyCatalog, (before, emits, another) => {
        let after = another;
        try {
          after = defineReasonCatalog({ ...before, emits });
        } catch {
          // Then against any other catalog.
        }
        for (const { kind, subject, explanation, contracts = [] } of compareCatalogs(before, after)) {
          const said = /shows (\w+) where it showed (\w+);/.exec(explanation);
          if (kind !== "emission-reason" || !said) continue;
          const [operation = "", cause = "", type] = subject.split("/");
          for (const contract of contracts) {
            const shown = (catalog: ReasonCatalog) =>
              publish(catalog, operation, cause, contract).find((each) => each.type === type)?.reason;
            expect([shown(after), shown(before)]).toEqual([said[1], said[2]]);
            claims++;
          }
          expect(explanation.endsWith(`(contract ${contracts.join(", ")})`)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
    expect(claims).toBeGreaterThan(30);
  });
});
