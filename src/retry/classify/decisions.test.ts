import { describe, expect, it } from "vitest";
import { coded, fetchFailed, grpc, http, named, verdictOf } from "../../../test/retry/errors.js";
import { permanent, transient } from "../marks.js";
import { classify } from "./index.js";

describe("what decides", () => {
  it("is the most specific permanent finding of a chain", () => {
    expect(classify(fetchFailed(coded("CERT_HAS_EXPIRED")))).toMatchObject({
      verdict: "permanent",
      kind: "tls",
    });
    expect(verdictOf(Object.assign(grpc(16), { cause: coded("ECONNRESET") }))).toBe("permanent");
    expect(verdictOf(Object.assign(grpc(13), { cause: coded("ECONNRESET") }))).toBe("transient");
  });

  it("is one address that may come to work", () => {
    const both = (a: unknown, b: unknown): unknown => fetchFailed(new AggregateError([a, b]));
    expect(verdictOf(both(coded("ECONNREFUSED"), coded("ENETUNREACH")))).toBe("transient");
    expect(verdictOf(both(coded("CERT_HAS_EXPIRED"), coded("ECONNREFUSED")))).toBe("transient");
    expect(verdictOf(both(coded("CERT_HAS_EXPIRED"), coded("EACCES", { syscall: "connect" })))).toBe(
      "suspect",
    );
    expect(verdictOf(both(coded("CERT_HAS_EXPIRED"), coded("ERR_TLS_CERT_ALTNAME_INVALID")))).toBe(
      "permanent",
    );
    const same = coded("CERT_HAS_EXPIRED");
    expect(verdictOf(both(same, same))).toBe("permanent");
    const own = new AggregateError([]);
    own.errors.push(own);
    expect(verdictOf(own)).toBe("suspect");
  });

  it("is a cause that several addresses share", () => {
    const cause = coded("CERT_HAS_EXPIRED");
    const each = Array.from({ length: 32 }, (_, index) => new Error(`address ${index}`, { cause }));
    expect(classify(new AggregateError(each))).toMatchObject({
      verdict: "permanent",
      code: "CERT_HAS_EXPIRED",
    });
    expect(verdictOf(new AggregateError([new AggregateError(each), new AggregateError(each)]))).toBe(
      "permanent",
    );
    // Every level shares the next one twice: without a memory this is 2^40 looks.
    let tower: Error = cause;
    for (let level = 0; level < 40; level += 1)
      tower = new AggregateError([new Error("a", { cause: tower }), tower]);
    expect(verdictOf(tower)).toBe("suspect");
    const [one, two] = [new AggregateError([]), new AggregateError([])];
    one.errors.push(two, cause);
    two.errors.push(one, cause);
    expect(verdictOf(one)).toBe("permanent");
  });

  it("is never one address too many to look at", () => {
    const expired = (): Error => coded("CERT_HAS_EXPIRED");
    const many = Array.from({ length: 32 }, expired);
    expect(verdictOf(fetchFailed(new AggregateError(many)))).toBe("permanent");
    const cut = fetchFailed(new AggregateError([...many, coded("ECONNREFUSED")]));
    expect(verdictOf(cut)).toBe("suspect");
    const wide = Array.from({ length: 3 }, () => new AggregateError(Array.from({ length: 32 }, expired)));
    expect(verdictOf(fetchFailed(new AggregateError(wide)))).toBe("suspect");
  });

  it("is told in texts of bounded length", () => {
    const long = "x".repeat(1e6);
    const members = Array.from({ length: 32 }, (_, index) => coded(`${index}${long}`));
    const marked = permanent(coded("EX"), { code: long, explanation: long });
    for (const error of [coded(long), named(long), marked, new AggregateError(members)]) {
      const { code, explanation } = classify(error);
      expect(code.length).toBeLessThanOrEqual(500);
      expect(explanation.length).toBeLessThanOrEqual(500);
    }
  });

  it("is a mark, over every rule", () => {
    expect(classify(permanent(coded("ECONNREFUSED")))).toMatchObject({
      verdict: "permanent",
      code: "ECONNREFUSED",
    });
    expect(classify(transient(http(401), { retryAfterMs: 5 }))).toMatchObject({
      verdict: "transient",
      retryAfterMs: 5,
    });
    expect(verdictOf(new Error("wrapped", { cause: permanent(new Error("inner")) }))).toBe("permanent");
    const circle = permanent(null);
    circle.cause = circle;
    expect(verdictOf(circle)).toBe("permanent");
  });

  it("is the program, where no network is behind it", () => {
    expect(verdictOf(new TypeError("x is not a function"))).toBe("permanent");
    expect(verdictOf(new RangeError("bad"))).toBe("permanent");
    expect(verdictOf(new TypeError("x", { cause: coded("ECONNREFUSED") }))).toBe("transient");
    expect(verdictOf(new TypeError("terminated"))).toBe("transient");
    expect(verdictOf(new TypeError("Failed to fetch"))).toBe("suspect");
  });

  it("is nothing that can be thrown badly", () => {
    const hostile = new Proxy(new Error("proxy"), {
      get: () => {
        throw new Error("trap");
      },
    });
    const getter = Object.defineProperty(new Error("x"), "code", { get: () => hostile.message });
    for (const thrown of [
      null,
      undefined,
      "ECONNREFUSED",
      14,
      Symbol("s"),
      1n,
      () => 1,
      hostile,
      getter,
      {},
      [],
    ])
      expect(verdictOf(thrown)).toBe("suspect");
    for (const code of ["constructor", "toString", "__proto__", "hasOwnProperty"])
      expect(verdictOf(coded(code))).toBe("suspect");
  });

  it("is a rate limit, where 403 says so", () => {
    expect(classify(http(403, { "x-ratelimit-remaining": "0" })).verdict).toBe("transient");
    expect(classify(http(403, { "Retry-After": "9" }))).toMatchObject({
      verdict: "transient",
      retryAfterMs: 9000,
    });
    expect(classify(http(403, { "x-ratelimit-remaining": "5" })).verdict).toBe("permanent");
    for (const ratelimit of ["limit=10, remaining=0, reset=5", '"default";r=0;t=5'])
      expect(classify(http(403, { RateLimit: ratelimit })).verdict).toBe("transient");
    for (const ratelimit of ["limit=10, remaining=7, reset=5", '"default";r=10;t=0'])
      expect(classify(http(403, { RateLimit: ratelimit })).verdict).toBe("permanent");
    expect(classify(http(403, { "X-RateLimit-Reset": "1792497598" })).verdict).toBe("transient");
    const left = { "X-RateLimit-Reset": "1792497598", "X-RateLimit-Remaining": "5" };
    expect(classify(http(403, left)).verdict).toBe("permanent");
  });
});
