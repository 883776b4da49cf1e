import { describe, expect, it } from "vitest";
import type { CatalogDifference } from "./catalog-difference.js";
import { compareReason } from "./compare-reason.js";
import type { ReasonEntry } from "./reason-catalog.js";

const entry: ReasonEntry = { types: ["Ready"], class: "terminal", summary: "A sentence." };
const differences = (
  before: Partial<ReasonEntry>,
  after: Partial<ReasonEntry>,
): readonly CatalogDifference[] => compareReason("A", { ...entry, ...before }, { ...entry, ...after }, 3);
/** Who breaks, with both ways out, in one text. */
const told = ({ level, kind, explanation, remedies = [] }: CatalogDifference): readonly string[] => [
  `${level} ${kind}`,
  explanation,
  ...remedies,
];
const ANOTHER =
  "Change in a new contract: a published reason stays what it was: add another one with since: 3 and raise contract to 3.";
const LOST =
  "Change in a new contract: raise contract to 3, which announces it; readers of older contracts lose it too.";

describe("two versions of a reason", () => {
  it.each<[string, Partial<ReasonEntry>, Partial<ReasonEntry>, readonly string[]]>([
    [
      "another class",
      {},
      { class: "transient" },
      [
        "breaking reason-class",
        "A was terminal and is now transient: clients give up or wait where they did not.",
        "Additive exposure now: keep A terminal and state the other case as its cause or on a condition of its own.",
        ANOTHER,
      ],
    ],
    [
      "another contract, where none stands for the first",
      {},
      { since: 2 },
      [
        "breaking reason-since",
        "A came in with contract 1 and now with 2: readers between see another reason.",
        "Additive exposure now: keep since: 1.",
        ANOTHER,
      ],
    ],
    [
      "a type less",
      { types: ["Ready", "Up"] },
      {},
      [
        "breaking reason-type-removed",
        "A no longer has the type Up: clients that look there do not see it.",
        "Additive exposure now: keep Up.",
        LOST,
      ],
    ],
    ["a type more", {}, { types: ["Ready", "Up"] }, ["additive reason-type-added", "A has the new type Up."]],
    [
      "types in another order",
      { types: ["Ready", "Up"] },
      { types: ["Up", "Ready"] },
      ["safe reason-type-order", "The type list of A is ordered anew."],
    ],
    [
      "a refinement less",
      { refines: ["B"] },
      {},
      [
        "breaking reason-refinement-removed",
        "A no longer has the refinement B: clients that group by it lose it.",
        "Additive exposure now: keep B.",
        LOST,
      ],
    ],
    [
      "a refinement more",
      {},
      { refines: ["B"] },
      ["additive reason-refinement-added", "A has the new refinement B."],
    ],
    [
      "a phase less, which nobody misses",
      { phases: ["Error", "Stopped"] },
      { phases: ["Error"] },
      [
        "safe reason-phase-removed",
        "A no longer has the phase Stopped: it is not seen in that phase any more.",
      ],
    ],
    [
      "a phase more",
      { phases: ["Error"] },
      { phases: ["Error", "Stopped"] },
      ["additive reason-phase-added", "A has the new phase Stopped."],
    ],
    [
      "phases for the first time",
      {},
      { phases: ["Error", "Stopped"] },
      ["safe reason-phase-removed", "A now accompanies Error, Stopped only."],
    ],
    [
      "phases no more",
      { phases: ["Error"] },
      {},
      ["additive reason-phase-added", "A may now accompany any phase."],
    ],
    [
      "a deprecation",
      {},
      { deprecatedIn: 2 },
      ["safe reason-deprecation", "The deprecation of A changed; it stays known."],
    ],
    [
      "another replacement",
      { deprecatedIn: 2, replacedBy: "B" },
      { deprecatedIn: 2, replacedBy: "C" },
      ["safe reason-deprecation", "The deprecation of A changed; it stays known."],
    ],
    [
      "another summary",
      {},
      { summary: "Another sentence." },
      ["safe reason-text", "The description of A was reworded."],
    ],
    ["another action", {}, { action: "Do it." }, ["safe reason-text", "The description of A was reworded."]],
  ])("differ in %s", (_what, before, after, expected) => {
    const found = differences(before, after);
    expect(found.map(told)).toEqual([expected]);
    expect(found[0]?.subject).toBe("A");
  });

  it("do not differ by what is stated only in one of them and holds in both", () => {
    expect(differences({}, { since: 1, refines: [] })).toEqual([]);
    expect(differences({ since: 1, refines: [] }, {})).toEqual([]);
    const same = { phases: ["Error"], refines: ["B"], action: "Do it.", deprecatedIn: 2, replacedBy: "B" };
    expect(differences(same, { ...same })).toEqual([]);
  });

  it("differ in everything that changed, the gravest first", () => {
    const found = differences(
      { types: ["Ready", "Up"], refines: ["B"] },
      {
        class: "waiting",
        since: 2,
        types: ["Down", "Ready"],
        refines: ["C"],
        phases: ["Error"],
        summary: "S.",
      },
    );
    expect(found.map(({ kind }) => kind)).toEqual([
      "reason-class",
      "reason-since",
      "reason-type-removed",
      "reason-type-added",
      "reason-refinement-removed",
      "reason-refinement-added",
      "reason-phase-removed",
      "reason-text",
    ]);
  });
});
