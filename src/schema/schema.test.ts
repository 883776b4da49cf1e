import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Condition,
  type ConditionUpdate,
  convertConditions,
  sandboxReasons,
  setCondition,
  stateIsolationMismatch,
  validateCondition,
} from "../conditions/index.js";
import {
  conditionListSchema,
  conditionSchema,
  conditionsCrdSchema,
  decodeReasonCatalog,
  deadlineCrdSchema,
  jsonSchemas,
  reasonCatalogSchema,
} from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

describe("conditionSchema", () => {
  it("accepts what setCondition writes and what convertConditions publishes, foreign strings included", () => {
    const update = fc.record({
      type: fc.stringMatching(/^[A-Za-z]+[-!. ]?$/),
      reason: fc.string({ unit: "binary" }),
      message: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(update), (updates) => {
        const list = updates.reduce(
          (known: readonly Condition[], next) => setCondition(known, { status: "True", ...next }, 0),
          [],
        );
        expect(conditionListSchema.safeParse(list).error).toBeUndefined();
      }),
    );
    const stored = stateIsolationMismatch([], { now: 0, timedOut: true, message: "" });
    for (const contract of [1, 2]) {
      const list = convertConditions(stored, { catalog: sandboxReasons, contract });
      expect(conditionListSchema.parse(list)).toEqual(list);
    }
  });

  it("accepts what setCondition writes of whatever an update holds in the fields that are Slipway's own", () => {
    const odd = fc.oneof(fc.constantFrom("is up", "", "A", null, undefined, 5, {}, []), fc.string());
    const reasons = fc.oneof(odd, fc.array(odd, { maxLength: 3 }));
    const cause = fc.oneof(odd, fc.record({ reason: odd, message: odd, code: odd }, { requiredKeys: [] }));
    const update = fc.record({
      cause,
      generalReasons: reasons,
      convertedFrom: fc.oneof(
        odd,
        fc.record({ reason: odd, generalReasons: reasons, cause, note: odd }, { requiredKeys: [] }),
      ),
      unread: fc.oneof(odd, fc.dictionary(fc.string(), fc.jsonValue())),
    });
    const ready = { type: "Ready", status: "True", reason: "A", message: "" } as const;
    fc.assert(
      fc.property(update, (fields) => {
        const stated = { ...ready, ...fields } as ConditionUpdate;
        const list = setCondition([], stated, 0);
        expect(conditionListSchema.safeParse(JSON.parse(JSON.stringify(list))).error).toBeUndefined();
        expect(setCondition(list, stated, 1)).toBe(list);
      }),
      { numRuns: 2000 },
    );
  });

  it("judges a condition as validateCondition does", () => {
    const field = (...values: unknown[]) => fc.constantFrom(...values);
    const condition = fc.record({
      type: field("Ready", "a.io/B", "a..b/C", "a_b/C", "a/b/c", "-x", "", "a".repeat(317), 1),
      status: field("True", "true", undefined),
      reason: field("A", "A:", "", "a-b", "A".repeat(1025)),
      message: field("", "𝒳".repeat(32_768), "x".repeat(32_769)),
      lastTransitionTime: field(
        ...["2026-01-01T00:00:00Z", "2026-01-01T00:00:00+02:00", "", "2026", "2026-01-01T00:00Z"],
        ...["2026-01-01t00:00:00z", "2026-01-01T24:00:00Z", "2026-02-30T00:00:00Z", "2024-02-29T00:00:00Z"],
        ...["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-23:59"],
      ),
      observedGeneration: field(undefined, 0, -1, 1.5),
    });
    fc.assert(
      fc.property(condition, (value) => {
        expect(conditionSchema.safeParse(value).success).toBe(validateCondition(value).length === 0);
      }),
    );
  });

  it("keeps fields that it does not know, and refuses twins in a list", () => {
    const condition = {
      type: "Ready",
      status: "True",
      reason: "A",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
      severity: "Info",
      unread: { status: { value: "up" } },
    };
    expect(conditionSchema.parse(condition)).toEqual(condition);
    expect(conditionSchema.safeParse({ ...condition, unread: "mail" }).success).toBe(false);
    expect(conditionListSchema.safeParse([condition, condition]).success).toBe(false);
  });
});

describe("decodeReasonCatalog", () => {
  it("reads back the built-in catalog as it was written", () => {
    expect(decodeReasonCatalog(JSON.parse(JSON.stringify(sandboxReasons)))).toEqual(sandboxReasons);
    expect(reasonCatalogSchema.parse(sandboxReasons)).toEqual(sandboxReasons);
  });

  it.each<[unknown, string]>([
    [null, ""],
    [{ ...sandboxReasons, contract: "2" }, "contract"],
    [{ ...sandboxReasons, emits: [{ operation: "o" }] }, "emits[0].cause"],
    [{ ...sandboxReasons, reasons: { A: { class: "fatal" } } }, "reasons.A.types"],
    [{ ...sandboxReasons, reasons: {} }, "emits[0].reason"],
  ])("refuses what is none, naming the field", (value, field) => {
    expect(() => decodeReasonCatalog(value)).toThrow(
      expect.objectContaining({ code: "INVALID_CATALOG", field }),
    );
  });
});

describe("jsonSchemas", () => {
  it("are JSON Schema 2020-12 with the limits that Kubernetes enforces and open reasons", () => {
    const { condition, conditionList, reasonCatalog, deadlineState } = jsonSchemas();
    for (const schema of [condition, conditionList, reasonCatalog, deadlineState]) {
      expect(schema["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
    }
    expect(condition).toMatchObject({
      type: "object",
      required: ["type", "status", "reason", "message", "lastTransitionTime"],
      properties: {
        type: { maxLength: 316 },
        status: { enum: ["True", "False", "Unknown"] },
        reason: { minLength: 1, maxLength: 1024 },
        message: { maxLength: 32_768 },
        lastTransitionTime: { format: "date-time" },
      },
    });
    expect(condition["properties"]).not.toHaveProperty("reason.enum");
    expect(reasonCatalog).toMatchObject({ additionalProperties: false });
    expect(deadlineState).toMatchObject({
      additionalProperties: false,
      properties: {
        schemaVersion: { const: 1 },
        status: { enum: ["active", "expired", "completed", "cancelled"] },
      },
    });
    expect(deadlineState["required"]).toContain("windowEndsAt");
  });
});

describe("conditionsCrdSchema", () => {
  const schema = conditionsCrdSchema();

  it("is a list keyed by type that keeps unknown fields", () => {
    expect(schema).toMatchObject({
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        properties: { observedGeneration: { type: "integer", format: "int64", minimum: 0 } },
      },
    });
  });

  it.each([
    ["conditions", schema],
    ["a persisted deadline", deadlineCrdSchema()],
  ])("is structural for %s: nothing is there that Kubernetes refuses", (_what, structural) => {
    const refused = [
      "$ref",
      "$defs",
      "$schema",
      "$id",
      "id",
      "additionalProperties",
      "patternProperties",
      "propertyNames",
      "const",
      "definitions",
    ];
    const visit = (node: Record<string, unknown>): void => {
      // A node without a type is open on purpose, and says so.
      if (node["x-kubernetes-preserve-unknown-fields"] !== true) expect(typeof node["type"]).toBe("string");
      expect(node).not.toHaveProperty("anyOf");
      for (const keyword of refused) expect(node).not.toHaveProperty(keyword);
      for (const part of Object.values((node["properties"] ?? {}) as Record<string, Record<string, unknown>>))
        visit(part);
      if (node["items"]) visit(node["items"] as Record<string, unknown>);
    };
    visit(JSON.parse(JSON.stringify(structural)) as Record<string, unknown>);
  });

  it("says what may be null in the words of Kubernetes", () => {
    expect(deadlineCrdSchema()).toMatchObject({
      properties: {
        schemaVersion: { enum: [1] },
        windowEndsAt: { type: "integer", nullable: true },
        cleanup: { properties: { claim: { type: "object", nullable: true } } },
      },
    });
  });
});
