import { describe, expect, it } from "vitest";
import { define, entry, ready } from "../../../test/conditions/small-catalog.js";
import { defineReasonCatalog, extendCatalog, sandboxReasons } from "../index.js";

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
