import { describe, expect, it } from "vitest";
import {
  defineReasonCatalog,
  describeReason,
  extendCatalog,
  type ReasonCatalog,
  sandboxReasons,
} from "../index.js";

const ready = { polarity: "positive", presence: "always", summary: "Ready." } as const;
const entry = { types: ["Ready"], class: "terminal", summary: "A sentence." } as const;
const base = {
  name: "test",
  contract: 2,
  types: { Ready: ready },
  reasons: { A: entry, B: entry, Wait: { ...entry, class: "waiting" } },
  emits: [],
} as const;
const define = (part: object) => defineReasonCatalog({ ...base, ...part });

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

describe("a catalog that is refused", () => {
  const source = { backend: "docker", raw: ["exited"] } as const;
  const emission = { operation: "o", cause: "c", type: "Ready", reason: "A" } as const;
  const reason = (more: object): object => ({ reasons: { ...base.reasons, A: { ...entry, ...more } } });

  it.each<[string, object, string]>([
    ["name", { name: 5 }, "a name"],
    ["contract", { contract: "2" }, "a positive integer"],
    ["contract", { contract: -1 }, "a positive integer"],
    ["contract", { contract: 2 ** 53 }, "a positive integer"],
    ["types", { types: [] }, "an object"],
    ["reasons", { reasons: [] }, "an object"],
    ["retired", { retired: "Old" }, "an object"],
    ["emits", { emits: {} }, "an array"],
    ["types.a b", { types: { "a b": ready } }, "a name that Kubernetes accepts"],
    ["types.READY", { types: { Ready: ready, READY: ready } }, "unlike every other name, letter case aside"],
    ["types.Ready", { types: { Ready: 5 } }, "an object"],
    [
      "types.Ready.presence",
      { types: { Ready: { ...ready, presence: 1 } } },
      "always or while-true or once-reached",
    ],
    [
      "types.Ready.polarity",
      { types: { Ready: { ...ready, polarity: 1 } } },
      "positive or negative or neutral",
    ],
    ["types.Ready.summary", { types: { Ready: { ...ready, summary: 1 } } }, "a sentence"],
    ["reasons.A", { reasons: { A: "x" } }, "an object"],
    ["reasons.A.types", reason({ types: [5] }), "at least one condition type"],
    ["reasons.A.types", reason({ types: ["Ready", "Other"] }), "types of this catalog"],
    ["reasons.A.class", reason({ class: 1 }), "waiting or transient or terminal or informational"],
    ["reasons.A.phases", reason({ phases: [""] }), "a list of phases"],
    ["reasons.A.since", reason({ since: 0 }), "a contract of this catalog"],
    ["reasons.A.deprecatedIn", reason({ deprecatedIn: 3 }), "a contract of this catalog, not before since"],
    ["reasons.A.deprecatedIn", reason({ deprecatedIn: 0 }), "a contract of this catalog, not before since"],
    ["reasons.A.deprecatedIn", reason({ deprecatedIn: 1.5 }), "a contract of this catalog, not before since"],
    ["reasons.A.refines", reason({ refines: [5] }), "a list of reasons"],
    ["reasons.A.refines", reason({ refines: ["B", "C"] }), "reasons of this catalog"],
    ["reasons.A.replacedBy", reason({ replacedBy: 5 }), "a reason of this catalog"],
    ["reasons.A.replacedBy", reason({ replacedBy: "toString" }), "a reason of this catalog"],
    ["reasons.A.replacedBy", reason({ replacedBy: "A" }), "free of circles"],
    ["reasons.A.refines", reason({ refines: ["A"] }), "free of circles"],
    ["reasons.A.sources", reason({ sources: {} }), "a list of sources"],
    ["reasons.A.sources", reason({ sources: ["docker"] }), "a list of sources"],
    ["reasons.A.sources.backend", reason({ sources: [{ ...source, backend: 5 }] }), "a name"],
    ["reasons.A.sources.raw", reason({ sources: [{ ...source, raw: [5] }] }), "the backend's words"],
    ["reasons.A.sources.versions", reason({ sources: [{ ...source, versions: 5 }] }), "a range of versions"],
    ["reasons.A.summary", reason({ summary: 5 }), "a sentence"],
    ["reasons.A.action", reason({ action: "" }), "a sentence"],
    ["retired.Old", { retired: { Old: [] } }, "an object"],
    ["retired.Old.retiredIn", { retired: { Old: { retiredIn: 1.5 } } }, "a contract after the first"],
    [
      "retired.Old.class",
      { retired: { Old: { retiredIn: 2, class: 1 } } },
      "waiting or transient or terminal or informational",
    ],
    [
      "retired.Old.replacedBy",
      { retired: { Old: { retiredIn: 2, replacedBy: "Old" } } },
      "a reason of this catalog",
    ],
    ["emits[0]", { emits: ["x"] }, "an object"],
    ["emits[0].operation", { emits: [{ ...emission, operation: 5 }] }, "a name"],
    ["emits[1].cause", { emits: [emission, { ...emission, cause: "" }] }, "a name"],
    ["emits[0].reason", { emits: [{ ...emission, reason: 5 }] }, "a reason of this catalog"],
    ["emits[0].reason", { emits: [{ ...emission, reason: "toString" }] }, "a reason of this catalog"],
    ["emits[0].type", { emits: [{ ...emission, type: "Other" }] }, "a type of A"],
    ["emits[0].since", { emits: [{ ...emission, since: 3 }] }, "a contract of this catalog"],
    ["emits[0].since", { emits: [{ ...emission, since: 0 }] }, "a contract of this catalog"],
    ["emits[0].generalReasons", { emits: [{ ...emission, generalReasons: [""] }] }, "a list of reasons"],
    ["emits[0].generalReasons", { emits: [{ ...emission, generalReasons: "B" }] }, "a list of reasons"],
    [
      "emits[0].generalReasons",
      { emits: [{ ...emission, generalReasons: ["C"] }] },
      "other reasons of this catalog",
    ],
    [
      "emits[0].generalReasons",
      { emits: [{ ...emission, generalReasons: ["A"] }] },
      "other reasons of this catalog",
    ],
    [
      "emits[0].generalReasons",
      { emits: [{ ...emission, reason: "Wait", generalReasons: ["A"] }] },
      "non-terminal, as Wait is",
    ],
    [
      "emits[1]",
      { emits: [emission, { ...emission, since: 1 }] },
      "the only emission of its operation, cause, type and contract",
    ],
  ])("is told what is expected of %s: %j", (field, part, expected) => {
    expect(() => define(part)).toThrow(
      expect.objectContaining({
        code: "INVALID_CATALOG",
        field,
        message: expect.stringContaining(`Invalid catalog: ${field} must be ${expected}, got `) as string,
      }),
    );
  });

  it("is told which reason claims a word, where two of them do", () => {
    const sources = [source];
    const reasons = { A: { ...entry, sources }, B: { ...entry, sources } };
    expect(() => define({ reasons })).toThrow(
      'reasons.B.sources.raw must be a word that A does not claim, got "exited"',
    );
  });
});

describe("a catalog that holds", () => {
  const emission = { operation: "o", cause: "c", type: "Ready", reason: "A" } as const;
  const source = { backend: "docker", raw: ["exited"] } as const;

  it.each<[string, object]>([
    [
      "reasons of every class, presence and polarity",
      {
        types: {
          Ready: ready,
          Now: { ...ready, presence: "while-true", polarity: "negative" },
          Once: { ...ready, presence: "once-reached", polarity: "neutral" },
        },
        reasons: {
          A: { ...entry, class: "waiting" },
          B: { ...entry, class: "transient", types: ["Now", "Once"] },
          C: { ...entry, class: "informational" },
        },
      },
    ],
    [
      "a reason of the newest contract, deprecated in it",
      {
        reasons: { A: { ...entry, since: 2, deprecatedIn: 2, replacedBy: "B" }, B: entry },
      },
    ],
    [
      "one reason that claims a word twice, and two backends with one word",
      {
        reasons: {
          A: { ...entry, sources: [source, { ...source, versions: "<2", raw: ["Exited"] }] },
          B: { ...entry, sources: [{ ...source, backend: "podman" }] },
        },
      },
    ],
    [
      "refinements that meet again",
      {
        reasons: {
          A: { ...entry, refines: ["B", "C"] },
          B: { ...entry, refines: ["D"] },
          C: { ...entry, refines: ["D"] },
          D: entry,
        },
      },
    ],
    [
      "retired names, of every class, and a general reason that is one",
      {
        retired: { Old: { retiredIn: 2, class: "waiting", replacedBy: "Wait" }, Older: { retiredIn: 2 } },
        emits: [
          { ...emission, reason: "Wait", generalReasons: ["Old"] },
          { ...emission, cause: "d", generalReasons: ["Older", "B"] },
        ],
      },
    ],
    [
      "emissions that differ in one thing",
      {
        types: { Ready: ready, Other: ready },
        reasons: { A: { ...entry, types: ["Ready", "Other"] } },
        emits: [
          emission,
          { ...emission, operation: "p" },
          { ...emission, cause: "d" },
          { ...emission, type: "Other" },
          { ...emission, since: 2 },
        ],
      },
    ],
    [
      "an action, phases and a reason that a wait refines",
      {
        reasons: {
          A: { ...entry, action: "Do it.", phases: ["Error"] },
          Wait: { ...entry, class: "waiting", refines: ["B"] },
          B: { ...entry, class: "transient" },
        },
      },
    ],
  ])("has %s", (_what, part) => {
    expect(define(part)).toEqual({ ...base, ...part });
  });

  it("refuses a general reason that is retired and counts as a result, for what may still come right", () => {
    const emits = [{ ...emission, reason: "Wait", generalReasons: ["Old"] }];
    const retired = { Old: { retiredIn: 2 } };
    expect(() => define({ emits, retired })).toThrow(
      "emits[0].generalReasons must be non-terminal, as Wait is",
    );
  });
});

it.each([null, undefined, 5, "catalog", []])("refuses %j as a catalog, naming the value", (value) => {
  const refusal = expect.objectContaining({ code: "INVALID_CATALOG", value });
  expect(() => defineReasonCatalog(value as never)).toThrow(refusal);
  expect(() => extendCatalog(value as never, { prefix: "X", reasons: {} })).toThrow(refusal);
  expect(() => extendCatalog(sandboxReasons, value as never)).toThrow(refusal);
});

describe("extendCatalog", () => {
  const catalog = extendCatalog(sandboxReasons, {
    prefix: "Acme",
    name: "acme",
    types: { AcmeLicensed: ready },
    reasons: {
      AcmeLicenseMissing: { types: ["Ready", "AcmeLicensed"], class: "terminal", summary: "No licence." },
    },
    emits: [
      {
        operation: "start",
        cause: "acme-licence",
        type: "Ready",
        reason: "AcmeLicenseMissing",
        generalReasons: ["StartFailed"],
      },
    ],
    retired: { AcmeOld: { retiredIn: 2 } },
  });

  it("holds the user's reasons beside the built-in ones", () => {
    expect(catalog).toMatchObject({ name: "acme", contract: sandboxReasons.contract });
    expect(Object.keys(catalog.reasons)).toEqual([
      ...Object.keys(sandboxReasons.reasons),
      "AcmeLicenseMissing",
    ]);
    expect(catalog.emits).toHaveLength(sandboxReasons.emits.length + 1);
  });

  it.each<[string, object, string]>([
    ["a reason without the prefix", { reasons: { Other: entry } }, "reasons.Other"],
    ["no prefix", { prefix: "" }, "prefix"],
    ["a prefix that is no text", { prefix: 5 }, "prefix"],
    ["a prefix that the base uses", { prefix: "Image" }, "prefix"],
    ["a prefix that the base uses in another case", { prefix: "bootstrap" }, "prefix"],
    ["reasons that are null", { reasons: null }, "reasons"],
    ["types that are a list", { types: [] }, "types"],
    ["emits that are no list", { emits: {} }, "emits"],
    ["a contract that is no number", { contract: "two" }, "contract"],
    ["an older contract", { contract: 1 }, "contract"],
    ["a type that is there already", { types: { Ready: ready } }, "types.Ready"],
    ["a type that differs by case only", { types: { ready } }, "types.ready"],
    ["a retired name without the prefix", { retired: { Starting: { retiredIn: 2 } } }, "reasons.Starting"],
  ])("refuses %s", (_name, part, field) => {
    const extension = { prefix: "Acme", reasons: {}, ...part };
    expect(() => extendCatalog(sandboxReasons, extension as never)).toThrow(
      expect.objectContaining({ code: "INVALID_CATALOG", field }),
    );
  });

  it("counts the emissions as they were given, not those of the base", () => {
    const fieldOf = (...emits: unknown[]): unknown => {
      try {
        return extendCatalog(sandboxReasons, { prefix: "Acme", reasons: {}, emits } as never);
      } catch (error) {
        return (error as { field?: string }).field;
      }
    };
    const own = { operation: "acme", cause: "licence", type: "Ready", reason: "Starting" };
    expect(fieldOf({ ...own, reason: "Nope" })).toBe("emits[0].reason");
    expect(fieldOf(own, { ...own, cause: "" })).toBe("emits[1].cause");
    expect(fieldOf(own, own)).toBe("emits[1]");
    expect(fieldOf(sandboxReasons.emits[0])).toBe("emits[0]");
  });

  it("refuses a name that the base has, prefix or not", () => {
    expect(() => extendCatalog(catalog, { prefix: "Acme", reasons: { AcmeLicenseMissing: entry } })).toThrow(
      expect.objectContaining({ field: "prefix" }),
    );
  });
});

describe("an extension", () => {
  const acme = { ...entry, summary: "No licence." };
  const emission = { operation: "start", cause: "acme", type: "Ready", reason: "AcmeMissing" } as const;
  const own = {
    retired: { Old: { retiredIn: 2 } },
    emits: [{ ...emission, cause: "base", reason: "A" }],
  } as const;

  it("has what its base has, and what it adds, under the base's name and contract or its own", () => {
    const parent = define(own);
    const added = {
      prefix: "Acme",
      types: { AcmeUp: ready },
      reasons: { AcmeMissing: acme },
      emits: [emission],
      retired: { AcmeOld: { retiredIn: 2 } },
    } as const;
    expect(extendCatalog(parent, added)).toEqual({
      ...parent,
      types: { ...parent.types, AcmeUp: ready },
      reasons: { ...parent.reasons, AcmeMissing: acme },
      emits: [...parent.emits, emission],
      retired: { Old: { retiredIn: 2 }, AcmeOld: { retiredIn: 2 } },
    });
    const named = extendCatalog(parent, { prefix: "Acme", name: "acme", contract: 3, reasons: {} });
    expect(named).toEqual({ ...parent, name: "acme", contract: 3 });
    expect(Object.isFrozen(named.reasons)).toBe(true);
    expect(extendCatalog(define({}), { prefix: "Acme", reasons: {} })).toEqual({
      ...define({}),
      retired: {},
    });
  });

  it.each<[string, object, string]>([
    ["prefix", { prefix: "" }, "not empty"],
    ["prefix", { prefix: "wait" }, "unlike the beginning of Wait"],
    ["prefix", { prefix: "Ol" }, "unlike the beginning of Old"],
    ["contract", { contract: 1 }, "at least the base's"],
    ["contract", { contract: Number.NaN }, "at least the base's"],
    ["types", { types: "x" }, "an object"],
    ["reasons", { reasons: [] }, "an object"],
    ["retired", { retired: 5 }, "an object"],
    ["emits", { emits: "x" }, "an array"],
    ["reasons.TheAcme", { reasons: { TheAcme: acme } }, "a name with Acme first"],
    ["reasons.Gone", { retired: { Gone: { retiredIn: 2 } } }, "a name with Acme first"],
    ["types.Ready", { types: { Ready: ready } }, "a new name"],
  ])("is told what is expected of %s: %j", (field, part, expected) => {
    const extension = { prefix: "Acme", reasons: {}, ...part };
    expect(() => extendCatalog(define(own), extension as never)).toThrow(
      `Invalid catalog: ${field} must be ${expected}, got `,
    );
  });

  it("is an object, as its base and every definition is", () => {
    expect(() => extendCatalog(define(own), null as never)).toThrow(
      "Invalid catalog must be an object, got null",
    );
    expect(() => extendCatalog(5 as never, { prefix: "Acme", reasons: {} })).toThrow(
      "Invalid catalog must be an object, got 5",
    );
    expect(() => defineReasonCatalog([] as never)).toThrow("Invalid catalog must be an object, got ");
    const types = { Ready: { ...ready, note: () => 1 } };
    expect(() => define({ types })).toThrow("Invalid catalog must be plain JSON, got ");
    expect(Object.keys(define({}))).not.toContain("retired");
  });
});

describe("describeReason", () => {
  it("says what became of a word that is no reason any more, or never was one", () => {
    const list = define({ retired: { Old: { retiredIn: 2 } } });
    expect(describeReason("Old", { catalog: list })).toEqual({
      reason: "Old",
      found: "retired",
      name: undefined,
      summary: "Retired in contract 2.",
    });
    expect(describeReason("New", { catalog: list })).toEqual({
      reason: "New",
      found: "unknown",
      summary: "Not in the catalog test.",
    });
  });

  const catalog: ReasonCatalog = define({
    reasons: {
      A: { ...entry, sources: [{ backend: "docker", raw: ["exited"] }] },
      B: { ...entry, sources: [{ backend: "podman", raw: ["exited"] }] },
    },
    retired: { Old: { retiredIn: 2, replacedBy: "B" } },
  });

  it.each([
    ["A", undefined, { found: "reason", name: "A", summary: "A sentence." }],
    ["a", undefined, { found: "reason", name: "A" }],
    ["EXITED", undefined, { found: "raw", name: "A" }],
    ["exited", "podman", { found: "raw", name: "B" }],
    ["exited", "qemu", { found: "unknown" }],
    ["old", undefined, { found: "retired", name: "B" }],
    ["constructor", undefined, { found: "unknown" }],
    ["__proto__", undefined, { found: "unknown" }],
    ["", undefined, { found: "unknown" }],
  ])("describes %j of %s", (reason, backend, expected) => {
    expect(describeReason(reason, { catalog, backend })).toMatchObject({ reason, ...expected });
  });
});
