import { describe, expect, it } from "vitest";
import { base, define, entry, ready } from "../../../test/conditions/small-catalog.js";
import { defineReasonCatalog, extendCatalog, sandboxReasons } from "../index.js";

describe("defineReasonCatalog", () => {
  it("gives a frozen copy in plain JSON", () => {
    const definition = {
      ...base,
      emits: [{ operation: "o", cause: "c", type: "Ready", reason: "A" }],
    } as const;
    const catalog = defineReasonCatalog(definition);
    expect(JSON.parse(JSON.stringify(catalog))).toEqual(definition);
    expect(Object.isFrozen(catalog.reasons.A.types)).toBe(true);
    expect(Object.isFrozen(catalog.emits[0])).toBe(true);
  });

  it.each<[string, object, string]>([
    ["no name", { name: "" }, "name"],
    ["contract 0", { contract: 0 }, "contract"],
    ["a fractional contract", { contract: 1.5 }, "contract"],
    ["no types", { types: null }, "types"],
    ["a type that Kubernetes refuses", { types: { "not ready": ready, Ready: ready } }, "types.not ready"],
    ["types that differ by case only", { types: { Ready: ready, READY: ready } }, "types.READY"],
    ["an unknown polarity", { types: { Ready: { ...ready, polarity: "good" } } }, "types.Ready.polarity"],
    ["an unknown presence", { types: { Ready: { ...ready, presence: "often" } } }, "types.Ready.presence"],
    ["a type without words", { types: { Ready: { ...ready, summary: "" } } }, "types.Ready.summary"],
    ["a reason that Kubernetes refuses", { reasons: { "A-B": entry } }, "reasons.A-B"],
    ["reasons that differ by case only", { reasons: { A: entry, a: entry } }, "reasons.a"],
    ["a retired name in use", { retired: { a: { retiredIn: 2 } } }, "reasons.a"],
    ["a name retired from the start", { retired: { Old: { retiredIn: 1 } } }, "retired.Old.retiredIn"],
    ["a name retired in the future", { retired: { Old: { retiredIn: 3 } } }, "retired.Old.retiredIn"],
    ["a reason on no type", { reasons: { A: { ...entry, types: [] } } }, "reasons.A.types"],
    ["a reason on a foreign type", { reasons: { A: { ...entry, types: ["toString"] } } }, "reasons.A.types"],
    ["an unknown class", { reasons: { A: { ...entry, class: "fatal" } } }, "reasons.A.class"],
    ["since beyond the contract", { reasons: { A: { ...entry, since: 3 } } }, "reasons.A.since"],
    [
      "deprecated before it came",
      { reasons: { A: { ...entry, since: 2, deprecatedIn: 1 } } },
      "reasons.A.deprecatedIn",
    ],
    [
      "a replacement that is not there",
      { reasons: { A: { ...entry, replacedBy: "C" } } },
      "reasons.A.replacedBy",
    ],
    [
      "replacements in a circle",
      { reasons: { A: { ...entry, replacedBy: "B" }, B: { ...entry, replacedBy: "A" } } },
      "reasons.A.replacedBy",
    ],
    [
      "refinements in a circle",
      { reasons: { A: { ...entry, refines: ["B"] }, B: { ...entry, refines: ["A"] } } },
      "reasons.A.refines",
    ],
    ["a refinement of nothing", { reasons: { A: { ...entry, refines: ["C"] } } }, "reasons.A.refines"],
    [
      "a wait that refines a result",
      { reasons: { ...base.reasons, Wait: { ...base.reasons.Wait, refines: ["A"] } } },
      "reasons.Wait.refines",
    ],
    ["phases that are no list", { reasons: { A: { ...entry, phases: "Error" } } }, "reasons.A.phases"],
    [
      "a source without words",
      { reasons: { A: { ...entry, sources: [{ backend: "docker", raw: [] }] } } },
      "reasons.A.sources.raw",
    ],
    [
      "a source of nobody",
      { reasons: { A: { ...entry, sources: [{ backend: "", raw: ["x"] }] } } },
      "reasons.A.sources.backend",
    ],
    ["a reason without words", { reasons: { A: { ...entry, summary: "" } } }, "reasons.A.summary"],
    [
      "an emission of nothing",
      { emits: [{ operation: "o", cause: "c", type: "Ready", reason: "C" }] },
      "emits[0].reason",
    ],
    [
      "an emission on a foreign type",
      { emits: [{ operation: "o", cause: "c", type: "Done", reason: "A" }] },
      "emits[0].type",
    ],
    [
      "an emission of no operation",
      { emits: [{ operation: "", cause: "c", type: "Ready", reason: "A" }] },
      "emits[0].operation",
    ],
    [
      "a wait generalised to a result",
      { emits: [{ operation: "o", cause: "c", type: "Ready", reason: "Wait", generalReasons: ["A"] }] },
      "emits[0].generalReasons",
    ],
    [
      "a reason as its own general one",
      { emits: [{ operation: "o", cause: "c", type: "Ready", reason: "A", generalReasons: ["A"] }] },
      "emits[0].generalReasons",
    ],
    [
      "a general reason in another case",
      { emits: [{ operation: "o", cause: "c", type: "Ready", reason: "A", generalReasons: ["b"] }] },
      "emits[0].generalReasons",
    ],
    [
      "two answers for one finding",
      {
        emits: [
          { operation: "o", cause: "c", type: "Ready", reason: "A" },
          { operation: "o", cause: "c", type: "Ready", reason: "B" },
        ],
      },
      "emits[1]",
    ],
    ["a type that is null", { types: { Ready: null } }, "types.Ready"],
    ["a reason that is null", { reasons: { ...base.reasons, A: null } }, "reasons.A"],
    ["types that are no list", { reasons: { A: { ...entry, types: "Ready" } } }, "reasons.A.types"],
    ["refines that are no list", { reasons: { A: { ...entry, refines: 5 } } }, "reasons.A.refines"],
    [
      "refines of another reason that are no list",
      { reasons: { A: { ...entry, refines: ["B"] }, B: { ...entry, refines: 5 } } },
      "reasons.B.refines",
    ],
    ["a source that is null", { reasons: { A: { ...entry, sources: [null] } } }, "reasons.A.sources"],
    ["an action that is no text", { reasons: { A: { ...entry, action: 5 } } }, "reasons.A.action"],
    ["an emission that is null", { emits: [null] }, "emits[0]"],
    [
      "a general reason that is no text",
      { emits: [{ operation: "o", cause: "c", type: "Ready", reason: "A", generalReasons: [5] }] },
      "emits[0].generalReasons",
    ],
    ["retired that is no object", { retired: null }, "retired"],
    ["a retired name that is null", { retired: { Old: null } }, "retired.Old"],
    [
      "an unknown class of a retired name",
      { retired: { Old: { retiredIn: 2, class: "x" } } },
      "retired.Old.class",
    ],
    [
      "a retired name replaced by nothing known",
      { retired: { Old: { retiredIn: 2, replacedBy: "C" } } },
      "retired.Old.replacedBy",
    ],
    [
      "a word of a backend claimed twice",
      {
        reasons: {
          A: { ...entry, sources: [{ backend: "docker", raw: ["exited"] }] },
          B: { ...entry, sources: [{ backend: "docker", raw: ["Exited"] }] },
        },
      },
      "reasons.B.sources.raw",
    ],
    ["what is no JSON", { types: { Ready: { ...ready, note: () => 1 } } }, ""],
  ])("refuses %s", (_name, part, field) => {
    expect(() => define(part)).toThrow(expect.objectContaining({ code: "INVALID_CATALOG", field }));
  });
});

it.each([null, undefined, 5, "catalog", []])("refuses %j as a catalog, naming the value", (value) => {
  const refusal = expect.objectContaining({ code: "INVALID_CATALOG", value });
  expect(() => defineReasonCatalog(value as never)).toThrow(refusal);
  expect(() => extendCatalog(value as never, { prefix: "X", reasons: {} })).toThrow(refusal);
  expect(() => extendCatalog(sandboxReasons, value as never)).toThrow(refusal);
});
