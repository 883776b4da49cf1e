import { describe, expect, it } from "vitest";
import { read, readEntry, readHeader, readInteger, readMembers, readText } from "./inspect.js";

describe("reading of foreign values", () => {
  const throwing = new Proxy(
    {},
    {
      get: () => {
        throw new Error("trap");
      },
    },
  );

  it("is of the fields of objects only", () => {
    for (const value of [null, undefined, 5, "text", Symbol("s"), () => 1])
      expect(read(value, "length")).toBeUndefined();
    expect(read(throwing, "a")).toBeUndefined();
    expect(readText({ a: "x" }, "a")).toBe("x");
    expect(readText({ a: 5 }, "a")).toBeUndefined();
    expect(readInteger({ a: 5 }, "a")).toBe(5);
    for (const a of [1.5, Number.NaN, "5", 5n]) expect(readInteger({ a }, "a")).toBeUndefined();
  });

  it("is of the members of aggregates only, up to 32", () => {
    const of = (count: number): unknown => ({
      name: "AggregateError",
      errors: Array.from({ length: count }, () => 1),
    });
    expect(readMembers(of(32))).toMatchObject({ isCut: false, list: { length: 32 } });
    expect(readMembers(of(33))).toMatchObject({ isCut: true, list: { length: 32 } });
    for (const other of [
      { name: "ValidationError", errors: [1] },
      { name: "AggregateError", errors: "many" },
      { name: "AggregateError", errors: { length: 1, slice: () => [1] } },
    ])
      expect(readMembers(other)).toBeUndefined();
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    expect(readMembers({ name: "AggregateError", errors: proxy })).toBeUndefined();
  });

  it("is of a header in whatever bag it comes", () => {
    for (const bag of [
      new Headers({ "Retry-After": "5" }),
      new Map([["retry-after", "5"]]),
      { "retry-after": "5" },
      { "Retry-After": "5" },
      { "retry-after": ["5", "6"] },
      { "retry-after": 5 },
      ["x", "retry-after", "Retry-After", "5"],
      [["RETRY-AFTER", "5"]],
      [Buffer.from("Retry-After"), Buffer.from("5")],
      [7, "x", "retry-after", "5"],
    ])
      expect(readHeader(bag, "retry-after")).toBe("5");
    for (const bag of [
      null,
      undefined,
      "retry-after",
      5,
      {},
      [],
      ["retry-after"],
      { "retry-after": {} },
      throwing,
    ])
      expect(readHeader(bag, "retry-after")).toBeUndefined();
    expect(
      readEntry(
        {
          get: () => {
            throw new Error("trap");
          },
        },
        "a",
      ),
    ).toBeUndefined();
    // Its exact name comes before another spelling, wherever that stands.
    expect(readHeader({ "Retry-After": "6", "retry-after": "5" }, "retry-after")).toBe("5");
  });

  it("is of the first 200 names of a bag", () => {
    const many = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, "x"]));
    expect(readHeader({ ...many(199), "Retry-After": "5" }, "retry-after")).toBe("5");
    expect(readHeader({ ...many(200), "Retry-After": "5" }, "retry-after")).toBeUndefined();
    const flat = (count: number): string[] => [...Object.entries(many(count)).flat(), "retry-after", "5"];
    expect(readHeader(flat(199), "retry-after")).toBe("5");
    expect(readHeader(flat(200), "retry-after")).toBeUndefined();
  });
});
