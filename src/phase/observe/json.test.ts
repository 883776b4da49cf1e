import { describe, expect, it } from "vitest";
import { at, flagOf, integerOf, member, objectOf, objectsOf, textOf, wordOf } from "./json.js";

const others = [null, undefined, true, 1, "text", [], [{ a: 1 }]];

describe("JSON of which nothing is known", () => {
  it("is an object, or none", () => {
    const object = { a: 1 };
    expect(objectOf(object)).toBe(object);
    for (const value of others) expect(objectOf(value)).toBeNull();
  });

  it("has members of its own only, also behind a path", () => {
    expect(member({ a: 1 }, "a")).toBe(1);
    for (const value of [{}, ...others]) expect(member(value, "constructor")).toBeUndefined();
    expect(at({ a: { b: { c: 2 } } }, "a", "b", "c")).toBe(2);
    expect(at({ a: null }, "a", "b", "c")).toBeUndefined();
    expect(at({ a: [{ b: 1 }] }, "a", "0", "b")).toBeUndefined();
  });

  it("has the objects of an array, and nothing of anything else", () => {
    expect(objectsOf([{ a: 1 }, null, 2, "text", [{}], { b: 1 }])).toEqual([{ a: 1 }, { b: 1 }]);
    for (const value of [null, undefined, {}, { length: 1, 0: {} }, "text"])
      expect(objectsOf(value)).toEqual([]);
  });

  it("is a text that says something, a flag or a whole number, or none of them", () => {
    expect(textOf(" a ")).toBe(" a ");
    for (const value of ["", 1, null, ["a"]]) expect(textOf(value)).toBeNull();
    expect([flagOf(true), flagOf(false)]).toEqual([true, false]);
    for (const value of ["true", 1, 0, null]) expect(flagOf(value)).toBeNull();
    expect([integerOf(-1), integerOf(3_221_225_786)]).toEqual([-1, 3_221_225_786]);
    for (const value of ["5", 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, null])
      expect(integerOf(value)).toBeNull();
  });

  it("is a word for comparing, without letter case and blanks around it", () => {
    expect(wordOf(" ReaDy\n")).toBe("ready");
    for (const value of ["", " ", 1, null, undefined]) expect(wordOf(value)).toBe("");
  });
});
