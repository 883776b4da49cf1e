import { describe, it } from "vitest";
import {
  A,
  B,
  base,
  entry,
  expectDifference,
  next,
  type,
} from "../../../test/conditions/compared-catalogs.js";

describe("compareCatalogs, kind by kind", () => {
  it.each<[string, object, object, string]>([
    ["another name", base, { ...base, name: "d" }, "breaking catalog-name"],
    ["a lower contract", { ...base, contract: 2 }, base, "breaking contract-lowered"],
    ["a new contract", base, { ...base, contract: 2 }, "additive contract-raised"],
    ["a new type", base, { ...base, types: { Ready: type, Other: type } }, "additive type-added"],
    ["a type gone", { ...base, types: { Ready: type, Other: type } }, base, "breaking type-removed"],
    [
      "a type turned round",
      base,
      { ...base, types: { Ready: { ...type, polarity: "negative" } } },
      "breaking type-polarity",
    ],
    [
      "a type present otherwise",
      base,
      { ...base, types: { Ready: { ...type, presence: "while-true" } } },
      "breaking type-presence",
    ],
    [
      "a type in other words",
      base,
      { ...base, types: { Ready: { ...type, summary: "t" } } },
      "safe type-text",
    ],
    ["a new reason", base, { ...base, reasons: { A, B, C: entry } }, "additive reason-added"],
    ["a reason gone", { ...base, reasons: { A, B, C: entry } }, base, "breaking reason-removed"],
    [
      "a reason retired at once",
      { ...next, retired: {}, reasons: { A, B, C: entry } },
      { ...next, retired: { C: { retiredIn: 2 } } },
      "breaking reason-removed",
    ],
    [
      "a reason retired in the next contract",
      { ...next, contract: 2, reasons: { A, B, C: entry } },
      { ...next, contract: 3, retired: { Old: { retiredIn: 2 }, C: { retiredIn: 3 } } },
      "safe reason-retired",
    ],
    [
      "a retired name in use again",
      next,
      { ...next, retired: {}, reasons: { A, B, Old: entry } },
      "breaking retired-name-reused",
    ],
    ["a reservation dropped", next, { ...next, retired: {} }, "breaking reservation-removed"],
    ["a reservation added", { ...next, retired: {} }, next, "safe reservation-added"],
    [
      "a retirement moved",
      { ...next, contract: 3 },
      { ...next, contract: 3, retired: { Old: { retiredIn: 3 } } },
      "breaking retired-contract",
    ],
    [
      "a retired reason explained",
      next,
      { ...next, retired: { Old: { retiredIn: 2, replacedBy: "A" } } },
      "safe retired-text",
    ],
    [
      "another class",
      base,
      { ...base, reasons: { A: { ...A, class: "transient" }, B: { ...B, class: "transient", refines: [] } } },
      "breaking reason-class",
    ],
    [
      "a later contract",
      { ...next, reasons: { A, B } },
      { ...next, reasons: { A, B: { ...B, since: 2 } } },
      "breaking reason-since",
    ],
    [
      "deprecation",
      base,
      { ...base, reasons: { A: { ...A, deprecatedIn: 1, replacedBy: "B" }, B } },
      "safe reason-deprecation",
    ],
    [
      "a refinement dropped",
      base,
      { ...base, reasons: { A, B: { ...B, refines: [] } } },
      "breaking reason-refinement-removed",
    ],
    ["other words", base, { ...base, reasons: { A: { ...A, action: "a" }, B } }, "safe reason-text"],
    [
      "phases named",
      base,
      { ...base, reasons: { A: { ...A, phases: ["Error"] }, B } },
      "safe reason-phase-removed",
    ],
    [
      "phases opened",
      { ...base, reasons: { A: { ...A, phases: ["Error"] }, B } },
      base,
      "additive reason-phase-added",
    ],
    [
      "a phase more",
      { ...base, reasons: { A: { ...A, phases: ["Error"] }, B } },
      { ...base, reasons: { A: { ...A, phases: ["Error", "Stopped"] }, B } },
      "additive reason-phase-added",
    ],
    [
      "phases in another order",
      { ...base, reasons: { A: { ...A, phases: ["X", "Y"] }, B } },
      { ...base, reasons: { A: { ...A, phases: ["Y", "X"] }, B } },
      "safe reason-phase-order",
    ],
    [
      "a field that no reader has",
      base,
      { ...base, types: { Ready: { ...type, note: "n" } } },
      "safe catalog-text",
    ],
  ])("judges %s", (_name, before, after, expected) => {
    expectDifference(before, after, expected);
  });
});
