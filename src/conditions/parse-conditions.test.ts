import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plain } from "../../test/conditions/plain-condition.js";
import { convertConditions, parseConditions, sandboxReasons } from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

describe("parseConditions", () => {
  it.each([
    ["a list", [plain]],
    ["an object with conditions", { conditions: [plain] }],
    [
      "a Kubernetes object",
      { apiVersion: "v1", kind: "Sandbox", status: { conditions: [plain], phase: "Ready" } },
    ],
    ["a protobuf reply", { sandbox: { status: { conditions: [plain] } } }],
    ["a Go object without tags", { Status: { Conditions: [plain] } }],
    ["one condition", plain],
    ["JSON text", JSON.stringify({ status: { conditions: [plain] } })],
  ])("finds the conditions in %s", (_name, input) => {
    expect(parseConditions(input)).toEqual([plain]);
  });

  it.each([
    [undefined],
    [null],
    [""],
    ["{"],
    [7],
    [{}],
    [[]],
    [{ conditions: null }],
    [{ status: { conditions: null } }],
    [[null, 1, "x", [], {}]],
    [[{ status: "True" }]],
  ])("finds none in %j", (input) => {
    expect(parseConditions(input)).toEqual([]);
  });

  it("keeps unknown types, reasons and fields, an own __proto__ among them", () => {
    const text = `[{"type":"Future/Thing","status":"True","reason":"from-the-future","message":"","lastTransitionTime":"",
      "severity":{"level":[1]},"cause":{"reason":"X","message":"","code":7},"constructor":1,"__proto__":{"a":1}}]`;
    const [parsed] = parseConditions(text);
    expect(JSON.parse(JSON.stringify(parsed))).toEqual(JSON.parse(text)[0]);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(parseConditions([parsed])).toEqual([parsed]);
  });

  const object = {
    apiVersion: "v1",
    kind: "Sandbox",
    metadata: { name: "s" },
    status: { conditions: [plain] },
  };

  it("finds the conditions in a watch event", () => {
    expect(parseConditions({ type: "MODIFIED", object })).toEqual([plain]);
    expect(parseConditions({ Type: "ADDED", Object: object })).toEqual([plain]);
  });

  it.each<[string, unknown]>([
    ["a watch event without conditions", { type: "DELETED", object: { kind: "Pod", metadata: {} } }],
    ["an error event", { type: "ERROR", object: { kind: "Status", status: "Failure", reason: "Expired" } }],
    ["a Secret", { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata: {}, data: { a: "YQ==" } }],
    ["a Secret without a head", { type: "kubernetes.io/tls", data: { "tls.key": "YQ==" } }],
    ["an Event", { kind: "Event", metadata: {}, type: "Warning", reason: "Failed", message: "m" }],
    [
      "an object with a type and a status of its own",
      { metadata: {}, type: "vm", status: { phase: "Ready" } },
    ],
    ["a list of watch events", [{ type: "MODIFIED", object }]],
  ])("takes %s for no condition", (_name, input) => {
    expect(parseConditions(input)).toEqual([]);
    expect(parseConditions(JSON.stringify(input))).toEqual([]);
  });

  it.each<[string, object, object]>([
    [
      "a status object",
      { status: { value: "up" } },
      { status: "Unknown", unread: { status: { value: "up" } } },
    ],
    ["a conditions object", { conditions: { a: 1 } }, {}],
    ["a conditions list of something else", { conditions: ["a", { b: 1 }] }, {}],
    ["a sandbox object", { sandbox: { name: "s" } }, {}],
    ["an object of the name object", { object: { kind: "Pod" } }, {}],
    ["a kind and metadata", { kind: "soft", metadata: { by: "x" } }, {}],
  ])("does not drop a condition that stands alone for %s of its own", (_name, fields, read) => {
    const expected = [{ ...plain, ...fields, ...read }];
    expect(parseConditions({ ...plain, ...fields })).toEqual(expected);
    expect(parseConditions([{ ...plain, ...fields }])).toEqual(expected);
    expect(parseConditions({ conditions: [{ ...plain, ...fields }] })).toEqual(expected);
  });

  it("does not follow a circle or a deep nest of containers", () => {
    const circle: Record<string, unknown> = {};
    circle["status"] = circle;
    expect(parseConditions(circle)).toEqual([]);
    const text = `${'{"status":'.repeat(50_000)}{}${"}".repeat(50_000)}`;
    expect(parseConditions(text)).toEqual([]);
  });

  it("never throws, settles at once, and keeps what it does not know through a conversion", () => {
    const value = fc.anything({ withNullPrototype: true, withDate: true, withBigInt: true });
    const entry = fc.record(
      {
        type: fc.string(),
        status: value,
        reason: value,
        cause: value,
        generalReasons: value,
        convertedFrom: value,
        raw: value,
        unread: value,
        extra: value,
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(fc.oneof(value, fc.array(entry), fc.object()), (input) => {
        const parsed = parseConditions(input);
        expect(parseConditions(parsed)).toEqual(parsed);
        const converted = convertConditions(parsed, { catalog: sandboxReasons, contract: 1 });
        expect(parseConditions(converted)).toEqual(converted);
      }),
    );
    fc.assert(
      fc.property(fc.json(), (text) => {
        const parsed = parseConditions(text);
        expect(parseConditions(JSON.stringify(parsed))).toEqual(parsed);
      }),
    );
  });
});
