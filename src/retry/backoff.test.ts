import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSlipwayError } from "../errors.js";
import { scriptedRandom, seededRandom } from "../testing/index.js";
import { parseRetryAfterMs } from "./hints.js";
import { exponentialBackoff, parsePushback, parseRetryAfter, type Jitter } from "./index.js";
import { parseHttpDate } from "./http-date.js";

const options = fc
  .record({
    initialMs: fc.integer({ min: 1, max: 2 ** 40 }),
    factor: fc.double({ min: 1, max: 1e6, noNaN: true }),
    extra: fc.integer({ min: 0, max: 2 ** 50 }),
  })
  .map(({ initialMs, factor, extra }) => ({ initialMs, factor, capMs: initialMs + extra }));
const jitter = fc.constantFrom<Jitter>("full", "equal", "decorrelated", "none");
const failures = fc.integer({ min: 0, max: 5000 });

describe("exponentialBackoff", () => {
  it("stays within its bounds, in integers, whatever is drawn", () => {
    fc.assert(
      fc.property(
        options,
        jitter,
        failures,
        fc.double(),
        fc.nat(),
        (limits, kind, count, drawn, previousMs) => {
          const backoff = exponentialBackoff({ ...limits, jitter: kind });
          const delay = backoff.delayMs(count, { random: () => drawn, previousMs });
          const plain = backoff.plainMs(count);
          const least = {
            full: 0,
            equal: plain / 2,
            decorrelated: Math.min(limits.initialMs, limits.capMs),
            none: plain,
          };
          expect(Number.isSafeInteger(delay)).toBe(true);
          expect(delay).toBeLessThanOrEqual(limits.capMs);
          expect(delay).toBeGreaterThanOrEqual(least[kind]);
        },
      ),
    );
  });

  it("never falls before jitter", () => {
    fc.assert(
      fc.property(options, failures, (limits, count) => {
        const backoff = exponentialBackoff(limits);
        expect(backoff.plainMs(count + 1)).toBeGreaterThanOrEqual(backoff.plainMs(count));
      }),
    );
  });

  it("still spreads at the cap", () => {
    for (const kind of ["full", "equal", "decorrelated"] as const) {
      const backoff = exponentialBackoff({ jitter: kind });
      const random = seededRandom(1);
      const delays = new Set(
        Array.from({ length: 50 }, () => backoff.delayMs(5000, { random, previousMs: 30_000 })),
      );
      expect(delays.size).toBeGreaterThan(40);
    }
  });

  it("draws the ends of its range", () => {
    const full = exponentialBackoff({ initialMs: 1000, capMs: 1000 });
    expect(full.delayMs(1, { random: scriptedRandom([0]) })).toBe(0);
    expect(full.delayMs(1, { random: scriptedRandom([0.999_999]) })).toBe(1000);
    expect(full.delayMs(1, { random: () => Number.NaN })).toBe(0);
    expect(full.delayMs(1)).toBeLessThanOrEqual(1000);
  });

  it.each([
    ["initialMs", { initialMs: 0 }],
    ["initialMs", { initialMs: Number.NaN }],
    ["initialMs", { initialMs: 1n as unknown as number }],
    ["initialMs", { initialMs: Symbol("s") as unknown as number }],
    ["capMs", { capMs: Number.POSITIVE_INFINITY }],
    ["capMs", { initialMs: 10, capMs: 9 }],
    ["factor", { factor: 0.5 }],
    ["jitter", { jitter: "some" as Jitter }],
  ])("refuses a wrong %s", (field, wrong) => {
    expect(() => exponentialBackoff(wrong)).toThrow(
      expect.toSatisfy(
        (error) => isSlipwayError(error) && error.code === "INVALID_OPTION" && error.field === field,
      ),
    );
  });
});

describe("hints", () => {
  const now = Date.UTC(2027, 0, 15, 8);

  it("read the three forms of an HTTP date", () => {
    const at = Date.UTC(2027, 0, 15, 8, 1, 30);
    expect(parseHttpDate("Fri, 15 Jan 2027 08:01:30 GMT", now)).toBe(at);
    expect(parseHttpDate("Friday, 15-Jan-27 08:01:30 GMT", now)).toBe(at);
    expect(parseHttpDate("Fri Jan 15 08:01:30 2027", now)).toBe(at);
    expect(parseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT", now)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
    expect(parseHttpDate("Mon, 30 Feb 2027 08:01:30 GMT", now)).toBeNull();
    expect(parseHttpDate("Thu, 29 Feb 2029 08:01:30 GMT", now)).toBeNull();
    expect(parseHttpDate("2027-01-15T08:01:30Z", now)).toBeNull();
  });

  it("agree with the host's calendar", () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date("9999-01-01"), noInvalidDate: true }), (date) => {
        const text = date.toUTCString();
        expect(parseHttpDate(text, now)).toBe(Date.parse(text));
      }),
    );
  });

  it("are no wait where the date is past, or nobody knows what time it is", () => {
    const text = "Fri, 15 Jan 2027 08:00:01 GMT";
    expect(parseRetryAfter(text, now)).toBe(1000);
    expect(parseRetryAfter(text, now + 1000)).toBeNull();
    expect(parseRetryAfter(text, now + 2000)).toBeNull();
    expect(parseRetryAfter(text)).toBeNull();
  });

  it("in milliseconds are digits, with room around them", () => {
    expect([parseRetryAfterMs(" 120\t"), parseRetryAfterMs("1.5"), parseRetryAfterMs("-1")]).toEqual([
      120,
      null,
      null,
    ]);
    expect(parsePushback(" 120\t")).toBe(120);
  });

  it("are strict about numbers", () => {
    expect(parseRetryAfter(" 120 ")).toBe(120_000);
    expect(parseRetryAfter("9".repeat(30))).toBe(Number.MAX_SAFE_INTEGER);
    for (const text of ["", "-3", "+3", "1.5", "1e3", "0x10", "NaN", "Infinity", "soon", "1 2", "١٢"])
      expect(parseRetryAfter(text, now)).toBeNull();
    expect(parsePushback("0")).toBe(0);
    for (const text of ["-1", "", "1.5", "soon"]) expect(parsePushback(text)).toBe("stop");
  });
});
