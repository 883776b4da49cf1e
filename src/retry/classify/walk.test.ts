import { describe, expect, it } from "vitest";
import { permanent, transient } from "../marks.js";
import { classify } from "./index.js";

const coded = (code: string, more: object = {}): Error => Object.assign(new Error(code), { code, ...more });
const refused = (more?: object): Error => coded("ECONNREFUSED", more);
const expired = (more?: object): Error => coded("CERT_HAS_EXPIRED", more);
const unavailable = (headers: object, more: object = {}): Error =>
  Object.assign(new Error("503"), { status: 503, headers, ...more });
const pushedBack = (ms: string): Error =>
  Object.assign(new Error("14"), {
    code: 14,
    details: "full",
    metadata: { get: (key: string) => (key === "grpc-retry-pushback-ms" ? [ms] : []) },
  });
const many = (errors: readonly unknown[], more: object = {}): AggregateError =>
  Object.assign(new AggregateError(errors), more);
/** So many links, the last of which has the cause. */
const chain = (links: number, cause: unknown): unknown =>
  links === 0 ? cause : new Error("wrapped", { cause: chain(links - 1, cause) });

describe("a chain of causes", () => {
  it("is looked at ten links deep, the error itself included", () => {
    expect(classify(chain(9, refused())).code).toBe("ECONNREFUSED");
    expect(classify(chain(10, refused())).code).toBe("Error");
  });

  it("that is a circle ends where it began", () => {
    const outer = new Error("outer");
    const inner = coded("ETIMEDOUT", { cause: outer });
    outer.cause = inner;
    expect(classify(outer).code).toBe("ETIMEDOUT");
    const circle = new Error("alone");
    circle.cause = circle;
    expect(classify(circle).verdict).toBe("suspect");
  });

  it("is decided by what no wait heals, then by the innermost", () => {
    expect(classify(refused({ cause: coded("ETIMEDOUT") })).code).toBe("ETIMEDOUT");
    expect(classify(expired({ cause: refused() })).code).toBe("CERT_HAS_EXPIRED");
    expect(classify(expired({ cause: coded("ERR_TLS_CERT_ALTNAME_INVALID") })).code).toBe(
      "ERR_TLS_CERT_ALTNAME_INVALID",
    );
  });

  it("goes through an error that another hid while it was disposed of, and no other `suppressed`", () => {
    const hidden = { error: new Error("dispose"), suppressed: refused() };
    const disposing = Object.assign(new Error("hid"), hidden, { name: "SuppressedError" });
    expect(classify(disposing).code).toBe("ECONNREFUSED");
    expect(classify(Object.assign(new Error("no"), hidden)).code).toBe("Error");
  });

  it.each([
    ["an HTTP answer", unavailable({ "retry-after": "7" }), { retryAfterMs: 7000 }],
    ["a gRPC status", pushedBack("250"), { pushbackMs: 250 }],
  ])("has the hint of whichever link carries it: %s", (_name, hinting, hint) => {
    const inner = Object.assign(hinting, { cause: refused() });
    expect(classify(inner)).toMatchObject({ code: "ECONNREFUSED", ...hint });
    const outer = refused({ cause: hinting });
    expect(classify(outer)).toMatchObject(hint);
    const plain = classify(refused({ cause: coded("ETIMEDOUT") }));
    expect([plain.retryAfterMs, plain.pushbackMs]).toEqual([undefined, undefined]);
  });

  it("has both hints where both are there", () => {
    const both = Object.assign(pushedBack("250"), { cause: unavailable({ "retry-after": "7" }) });
    expect(classify(both)).toMatchObject({ retryAfterMs: 7000, pushbackMs: 250 });
  });

  it("has no hint where it is permanent", () => {
    const found = classify(expired({ cause: unavailable({ "retry-after": "7" }) }));
    expect(found).toMatchObject({ verdict: "permanent", code: "CERT_HAS_EXPIRED" });
    expect(found.retryAfterMs).toBeUndefined();
  });
});

describe("several errors of one attempt", () => {
  it.each<[string, Error[], string, string]>([
    ["one that may pass", [expired(), refused()], "transient", "ECONNREFUSED"],
    ["one that may be either", [expired(), new Error("odd")], "suspect", "Error"],
    ["what speaks by a code", [expired(), expired()], "permanent", "CERT_HAS_EXPIRED"],
  ])("are decided by %s", (_name, errors, verdict, code) => {
    for (const members of [errors, errors.toReversed()])
      expect(classify(many(members))).toMatchObject({ verdict, code });
  });

  it("are decided by the last of those that no wait heals", () => {
    const other = (): Error => coded("ERR_TLS_CERT_ALTNAME_INVALID");
    expect(classify(many([expired(), other()])).code).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    expect(classify(many([other(), expired()])).code).toBe("CERT_HAS_EXPIRED");
  });

  it("name every code that there was, and one alone not", () => {
    const { explanation } = classify(refused());
    expect(classify(many([refused(), refused()])).explanation).toBe(explanation);
    expect(classify(many([refused(), coded("ETIMEDOUT")])).explanation).toBe(
      `${explanation} (each of: ECONNREFUSED, ETIMEDOUT)`,
    );
  });

  it("outrank a code of the aggregate itself, except where they say nothing", () => {
    expect(classify(many([refused()], { code: "CERT_HAS_EXPIRED" })).code).toBe("ECONNREFUSED");
    expect(classify(many([new Error("odd")], { code: "CERT_HAS_EXPIRED" })).code).toBe("CERT_HAS_EXPIRED");
    expect(classify(many([new Error("odd")], { code: "ODD" })).verdict).toBe("suspect");
    expect(classify(many([], { code: "ECONNREFUSED" })).code).toBe("ECONNREFUSED");
  });

  it("that hold each other are looked at once", () => {
    const first = many([]);
    const second = many([first, refused()]);
    first.errors.push(second);
    expect(classify(first).code).toBe("ECONNREFUSED");
    const alone = many([]);
    alone.errors.push(alone);
    expect(classify(alone).verdict).toBe("suspect");
  });

  it("that share a cause have it each", () => {
    const cause = refused();
    const found = classify(many([new Error("a", { cause }), new Error("b", { cause })]));
    expect(found).toMatchObject({ verdict: "transient", code: "ECONNREFUSED" });
  });

  it("are looked at up to 32 of one, and 64 in all; one of the others may pass", () => {
    const permanents = (count: number): Error[] => Array.from({ length: count }, () => expired());
    const verdict = (errors: readonly unknown[]): string => classify(many(errors)).verdict;
    expect([verdict(permanents(32)), verdict(permanents(33))]).toEqual(["permanent", "suspect"]);
    const inTwo = (count: number): Error[] => [many(permanents(31)), many(permanents(count - 31))];
    // The three aggregates count as well.
    expect([verdict(inTwo(61)), verdict(inTwo(62))]).toEqual(["permanent", "suspect"]);
  });
});

describe("a mark", () => {
  it("holds over what it wraps, and tells its code and kind", () => {
    const found = classify(transient(expired()));
    expect(found).toMatchObject({ verdict: "transient", kind: "tls", code: "CERT_HAS_EXPIRED" });
    expect(found.explanation).toBe("The operation says that this is transient");
    expect(classify(permanent(refused()))).toMatchObject({ verdict: "permanent", code: "ECONNREFUSED" });
  });

  it("tells its own code, explanation and wait instead", () => {
    const options = { code: "STARTING", explanation: "It starts", retryAfterMs: 5 };
    expect(classify(transient(unavailable({ "retry-after": "7" }), options))).toMatchObject(options);
    expect(classify(transient(unavailable({ "retry-after": "7" }))).retryAfterMs).toBe(7000);
    expect(classify(transient(pushedBack("250"))).pushbackMs).toBe(250);
  });

  it("within a mark tells nothing but what it wraps", () => {
    const found = classify(transient(permanent(expired(), { code: "INNER" })));
    expect(found).toMatchObject({ verdict: "transient", code: "CERT_HAS_EXPIRED" });
  });

  it("holds wherever in the chain it stands, and what stands outside of it is not asked", () => {
    const found = classify(expired({ cause: transient(refused()) }));
    expect(found).toMatchObject({ verdict: "transient", code: "ECONNREFUSED" });
  });

  it("over no error tells what was thrown", () => {
    expect(classify(permanent("no"))).toMatchObject({ verdict: "permanent", code: "NON_ERROR" });
    expect(classify(permanent({ name: "Odd" }))).toMatchObject({ verdict: "permanent", code: "Odd" });
  });

  it("decides among several errors by its verdict, not as a word that says nothing", () => {
    const found = classify(many([permanent(new Error("a")), permanent(new Error("b"), { code: "B" })]));
    expect(found).toMatchObject({ verdict: "permanent", code: "B" });
    expect(classify(many([permanent(new Error("a"))], { code: "ECONNREFUSED" })).verdict).toBe("permanent");
  });
});

describe("what is no error", () => {
  it.each([["text"], [5], [null], [undefined], [true], [Symbol("s")], [() => undefined]])(
    "is suspect: %o",
    (thrown) => {
      expect(classify(thrown)).toMatchObject({ verdict: "suspect", code: "NON_ERROR" });
    },
  );

  it("but an object is told by its code, or its name", () => {
    expect(classify({ code: "ODD", name: "Name" }).code).toBe("ODD");
    expect(classify({ name: "Name" }).code).toBe("Name");
    expect(classify({}).code).toBe("UNKNOWN_ERROR");
  });
});
