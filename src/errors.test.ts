import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clip, invalid, isSlipwayError, show, SlipwayError } from "./errors.js";

describe("SlipwayError", () => {
  it("carries its code, the field, the value and the cause", () => {
    const cause = new Error("below");
    const error = new SlipwayError("INVALID_STATE", "no", { field: "phase", value: 7, cause });
    expect(error).toMatchObject({
      name: "SlipwayError",
      code: "INVALID_STATE",
      field: "phase",
      value: 7,
      cause,
    });
    expect(new SlipwayError("INVALID_STATE", "no")).not.toHaveProperty("cause");
  });

  it("is told from other errors, also when it comes from another copy of the package", () => {
    expect(isSlipwayError(invalid("INVALID_PLAN", "plan", "", "an object", null))).toBe(true);
    expect(isSlipwayError({ "~slipway/error": true })).toBe(true);
    for (const other of [new Error("x"), null, undefined, "x", 7]) expect(isSlipwayError(other)).toBe(false);
  });

  it("names the subject alone where the whole of it is wrong", () => {
    expect(invalid("INVALID_PLAN", "plan", "", "an object", null).message).toBe(
      "Invalid plan must be an object, got null",
    );
  });
});

describe("show", () => {
  it.each([
    ["text", '"text"'],
    [7n, "7n"],
    [undefined, "undefined"],
    [true, "true"],
    [Symbol("s"), "Symbol(s)"],
    [() => {}, "a function"],
    [{ a: [1] }, '{"a":[1]}'],
    [{ toJSON: () => undefined }, "an object"],
    ["x".repeat(200), `"${"x".repeat(79)}…"`],
  ])("renders %o", (value, text) => {
    expect(show(value)).toBe(text);
  });

  it("never throws", () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    expect(show(circular)).toBe("an object");
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true }),
        (value) => typeof show(value) === "string",
      ),
    );
  });
});

describe("clip", () => {
  it("cuts to a length and never inside a surrogate pair", () => {
    expect(clip("short", 5)).toBe("short");
    expect(clip("longer", 5)).toBe("long…");
    expect(clip("ab😀d", 4)).toBe("ab…");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 2, max: 20 }), (text, length) => {
        const clipped = clip(text, length);
        expect(clipped.length).toBeLessThanOrEqual(Math.max(length, 0));
        if (text.length <= length) expect(clipped).toBe(text);
        expect(() => encodeURIComponent(clipped)).not.toThrow();
      }),
    );
  });
});
