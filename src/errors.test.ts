import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clip, hasMethod, invalid, isSlipwayError, kindOf, show, SlipwayError } from "./errors.js";

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
    [null, "null"],
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

/** Objects that do not want to be looked at. */
function hostile(): readonly object[] {
  const refuse = (): never => {
    throw new Error("s3cret");
  };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const handler = new Proxy({}, { get: () => refuse });
  const withGetter: object = Object.defineProperty({}, "constructor", { get: refuse });
  return [revoked.proxy, new Proxy({}, handler), withGetter, Object.create(withGetter) as object];
}

describe("an error about a value", () => {
  it("has it for a program, and shows it to nobody who prints or logs the error", () => {
    const value = { url: "postgres://user:s3cret@host" };
    const error = new SlipwayError("INVALID_OPTION", "Invalid store", { field: "store", value });
    expect(error.value).toBe(value);
    expect(error).toMatchObject({ code: "INVALID_OPTION", field: "store", value });
    expect(inspect(error)).toContain("INVALID_OPTION");
    expect(
      [inspect(error), JSON.stringify(error), JSON.stringify(Object.assign({}, error))].join(),
    ).not.toContain("s3cret");
    expect(new SlipwayError("INVALID_STATE", "Invalid").value).toBeUndefined();
  });
});

describe("kindOf", () => {
  class PgStore {
    readonly url = "postgres://user:s3cret@host";
  }

  it("says what a value is and nothing of what it says", () => {
    const shown = [
      new PgStore(),
      PgStore,
      "postgres://s3cret",
      ["s3cret"],
      { key: "s3cret" },
      Symbol("s3cret"),
    ];
    expect(shown.map(kindOf)).toEqual(["PgStore", "Function", "String", "Array", "Object", "Symbol"]);
    expect([null, undefined, 5, Object.create(null) as object].map(kindOf)).toEqual([
      "null",
      "undefined",
      "Number",
      "an object",
    ]);
  });

  it("takes for the name of a class only what is one", () => {
    for (const name of ["a s3cret", 5, "s3cret", "S3cret-s", "S3cret"]) {
      const value = Object.create({ constructor: { name } }) as object;
      expect(kindOf(value)).toBe("an object");
      expect(kindOf({ constructor: { name } })).toBe("an object");
    }
  });

  it("survives what does not want to be looked at", () => {
    for (const value of hostile()) {
      expect(kindOf(value)).toBe("an object");
      expect(() => show(value)).not.toThrow();
      expect(hasMethod(value, "now")).toBe(false);
    }
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
