import { describe, expect, it } from "vitest";
import { base, define, entry, ready } from "../../../test/conditions/small-catalog.js";

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
