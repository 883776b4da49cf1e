import { describe, expect, it } from "vitest";
import type { Classification } from "../verdict.js";
import { classify } from "./index.js";
import { read, readEntry, readHeader, readInteger, readMembers, readText } from "./inspect.js";

/** Where one adapter ends and another begins: what makes an error a gRPC status, a file's, or a program's. */

const now = Date.UTC(2027, 0, 15, 8);
const look = (error: unknown): Classification => classify(error, { now });
const coded = (code: string, message = "failed", more: object = {}): Error =>
  Object.assign(new Error(message), { code, ...more });
const named = (name: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { name, ...more });
const entries = (metadata: Record<string, unknown>): object => ({
  get: (key: string) => (metadata[key] === undefined ? [] : [metadata[key]]),
});
const grpc = (code: number, details: string, metadata: Record<string, unknown> = {}): Error =>
  Object.assign(new Error(details), { code, details, metadata: entries(metadata) });

describe("a number is a gRPC status", () => {
  it.each<[string, Error]>([
    ["details and metadata", grpc(16, "no")],
    [
      "details and the path of the call",
      named("ClientError", "x", { code: 16, details: "no", path: "/a/b" }),
    ],
    ["a raw message and metadata", named("Other", "x", { code: 16, rawMessage: "no", metadata: {} })],
    ["a raw message, as Connect has it", named("ConnectError", "x", { code: 16, rawMessage: "no" })],
    ["metadata and the name of grpc-web", named("RpcError", "x", { code: 16, metadata: {} })],
  ])("beside %s", (_what, error) => {
    expect(look(error)).toMatchObject({ verdict: "permanent", code: "UNAUTHENTICATED" });
  });

  it.each<[string, Error]>([
    ["by itself", named("Error", "x", { code: 16 })],
    ["with details alone", named("Error", "x", { code: 16, details: "no" })],
    ["with metadata that is null", named("Error", "x", { code: 16, details: "no", metadata: null })],
    ["with metadata that is no object", named("Error", "x", { code: 16, details: "no", metadata: "none" })],
    ["with a raw message alone", named("Error", "x", { code: 16, rawMessage: "no" })],
    ["with metadata alone", named("Error", "x", { code: 16, metadata: {} })],
    ["with the name of grpc-web alone", named("RpcError", "x", { code: 16 })],
    ["beyond the last of them", grpc(17, "no")],
  ])("never %s", (_what, error) => {
    expect(look(error).code).not.toBe("UNAUTHENTICATED");
    expect(look(error).verdict).toBe("suspect");
  });

  it("also by its name, with its words in the details or the message, and its hints in either bag", () => {
    const hints = { "retry-after": "7" };
    for (const words of [
      coded("UNAVAILABLE", "x", { details: "self-signed certificate" }),
      coded("UNAVAILABLE", "self-signed certificate"),
      coded("UNAVAILABLE", "self-signed certificate", { details: undefined }),
    ])
      expect(look(words)).toMatchObject({ verdict: "permanent", code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    expect(look(coded("UNAVAILABLE", "self-signed certificate", { details: "busy" })).verdict).toBe(
      "transient",
    );
    for (const bag of [{ metadata: hints }, { meta: hints }])
      expect(look(coded("RESOURCE_EXHAUSTED", "x", bag))).toMatchObject({
        verdict: "transient",
        retryAfterMs: 7_000,
      });
    expect(look({ code: "UNAVAILABLE" })).toMatchObject({ verdict: "transient", code: "UNAVAILABLE" });
  });
});

describe("inside a gRPC status", () => {
  it.each([
    ["self-signed certificate", "permanent", "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["Last error: Error: connect ECONNREFUSED 10.0.0.1:443", "transient", "ECONNREFUSED", "UNAVAILABLE"],
    ["Last error: connect ENOENT /run/gw.sock", "transient", "UNAVAILABLE"],
    ["Last error: connect EACCES /run/gw.sock", "suspect", "EACCES"],
    ["Last error: EFOO, connect EINVAL", "permanent", "EINVAL"],
    ["Failed to parse ipv4 address x", "permanent", "UNAVAILABLE"],
    ["busy", "transient", "UNAVAILABLE"],
  ])("UNAVAILABLE hides %j: %s", (details, verdict, ...codes) => {
    const found = look(grpc(14, details));
    expect(found.verdict).toBe(verdict);
    expect(codes).toContain(found.code);
  });

  it("a failure of TLS is told by the code that is one, and in no text that nobody would read", () => {
    const words = "NOT_OF_TLS CERT_LIKE_NONE: self-signed certificate";
    expect(look(grpc(14, words)).code).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(look(grpc(14, "NOT_OF_TLS CERT_HAS_EXPIRED: self-signed certificate")).code).toBe(
      "CERT_HAS_EXPIRED",
    );
    const phrase = "self-signed certificate";
    const at = (place: number): string => look(grpc(14, phrase.padStart(place, "."))).code;
    expect([at(4096), at(4097)]).toEqual(["DEPTH_ZERO_SELF_SIGNED_CERT", "UNAVAILABLE"]);
  });

  it("of another name nothing hides", () => {
    expect(look(grpc(13, "self-signed certificate"))).toMatchObject({ verdict: "suspect", code: "INTERNAL" });
    expect(look(grpc(8, "connect EINVAL"))).toMatchObject({ verdict: "suspect", code: "RESOURCE_EXHAUSTED" });
  });

  it("UNKNOWN may be the client's own credentials, which no other status tells", () => {
    const plugin = "Getting metadata from plugin failed with error: no token";
    expect(look(grpc(2, plugin))).toMatchObject({ verdict: "suspect", kind: "authentication" });
    expect(look(grpc(2, "odd"))).toMatchObject({ verdict: "suspect", kind: "server" });
    expect(look(grpc(13, plugin))).toMatchObject({ verdict: "suspect", kind: "server" });
  });

  it.each([
    [{ "retry-after": "7" }, { retryAfterMs: 7_000 }],
    [{ "retry-after": "Fri, 15 Jan 2027 08:00:09 GMT" }, { retryAfterMs: 9_000 }],
    [{ "grpc-retry-pushback-ms": "250" }, { pushbackMs: 250 }],
  ])("a time to come back makes RESOURCE_EXHAUSTED transient, and no other: %j", (metadata, hint) => {
    expect(look(grpc(8, "busy", metadata))).toMatchObject({ verdict: "transient", ...hint });
    expect(look(grpc(13, "busy", metadata))).toMatchObject({ verdict: "suspect", code: "INTERNAL", ...hint });
    expect(look(grpc(8, "busy", { "retry-after": "soon" })).verdict).toBe("suspect");
  });

  it("has no hints where it gives none", () => {
    const found = look(grpc(14, "busy"));
    expect(found).not.toHaveProperty("retryAfterMs");
    expect(found).not.toHaveProperty("pushbackMs");
  });
});

describe("a code of Node", () => {
  it.each([
    ["EPROTO", "write EPROTO: self-signed certificate", "permanent", "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["EPROTO", "write EPROTO", "suspect", "EPROTO"],
    ["ECONNRESET", "reset, self-signed certificate", "transient", "ECONNRESET"],
    ["ERR_HTTP2_STREAM_ERROR", "Stream closed with error code NGHTTP2_REFUSED_STREAM", "transient"],
    ["ERR_HTTP2_STREAM_ERROR", "Stream closed with error code NGHTTP2_INTERNAL_ERROR", "suspect"],
    ["ERR_HTTP2_ODD", "NGHTTP2_REFUSED_STREAM", "suspect"],
    ["ERR_INVALID_ARG_OF_TOMORROW", "x", "permanent"],
    ["HPE_OF_TOMORROW", "x", "suspect"],
    ["UND_ERR_OF_TOMORROW", "x", "suspect"],
  ])("%s, %j is %s", (code, message, verdict, as = code) => {
    expect(look(coded(code, message))).toMatchObject({ verdict, code: as });
  });

  it.each([
    ["/etc/tls/ca.crt", "permanent"],
    ["C:\\\\tls\\\\ca.crt", "permanent"],
    ["/etc/ssl/cert.pem", "permanent"],
    ["/etc/trust", "permanent"],
    ["/run/secrets/ca.crt", "permanent"],
    ["C:\\run\\secrets\\ca.crt", "permanent"],
    ["/etc/ca/config.json", "suspect"],
    ["roots", "permanent"],
    ["/etc/ca/tls.key", "suspect"],
    ["/etc/ca.crt/token", "suspect"],
    ["/run/ca-token.pem", "suspect"],
    ["/run/config.json", "suspect"],
    ["/run/scatter", "suspect"],
    ["", "suspect"],
  ])("for a file that is missing depends on what the file is: %s, %s", (path, verdict) => {
    for (const code of ["ENOENT", "EACCES"])
      expect(look(coded(code, "x", { syscall: "open", path }))).toMatchObject({ verdict, code });
    // A connection over a path is none to a file.
    expect(look(coded("ENOENT", "x", { syscall: "connect", path })).verdict).toBe("transient");
    // And a code that is of no file does not ask for one.
    expect(look(coded("ECONNREFUSED", "x", { path })).verdict).toBe("transient");
  });

  it("for a file without a path is not known to be of an authority", () => {
    expect(look(coded("ENOENT", "x", { syscall: "open" })).verdict).toBe("suspect");
  });
});

describe("the name of an error", () => {
  it.each([
    [named("TypeError", "x is not a function"), "permanent", "TypeError"],
    [Object.assign(new TypeError("x"), { message: undefined }), "permanent", "TypeError"],
    [new TypeError("terminated"), "transient", "TypeError"],
    [named("SyntaxError", "x"), "permanent", "SyntaxError"],
    // A DOM exception has a number for a code, and is no mistake of the program for its name.
    [named("SyntaxError", "x", { code: 12 }), "suspect"],
    [named("FetchError", "x"), "suspect"],
    [named("FetchError", "x", { type: "body-timeout" }), "transient", "FetchError"],
    [named("InvalidData", "nothing of TLS"), "suspect"],
    [Object.assign(named("InvalidData", "x"), { message: undefined }), "suspect"],
    [
      new TypeError("error sending request: self-signed certificate"),
      "permanent",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
    ],
    [named("OfTomorrow", "x"), "suspect"],
  ])("%s is %s", (error, verdict, code = look(error).code) => {
    expect(look(error)).toMatchObject({ verdict, code });
  });

  it.each([
    ["nothing", undefined, "permanent", "FETCH_FAILED"],
    ["a message", new Error("bad port"), "permanent", "FETCH_FAILED"],
    ["a code that no table names", coded("OF_TOMORROW"), "suspect", "FETCH_FAILED"],
    ["a code that a table names", coded("ECONNREFUSED"), "transient", "ECONNREFUSED"],
    ["a time limit", named("TimeoutError", "x"), "transient", "TimeoutError"],
    ["a name of Deno's", named("ConnectionReset", "x"), "transient", "ConnectionReset"],
  ])("of a fetch that failed is told by what is behind it: %s", (_what, cause, verdict, code) => {
    expect(look(new TypeError("fetch failed", { cause }))).toMatchObject({ verdict, code });
  });
});

describe("a status of HTTP", () => {
  it.each([
    ["the error", { status: 503 }],
    ["its response", { response: { status: 503 } }],
    ["its res", { res: { statusCode: 503 } }],
    ["its response, where its own is none", { status: "error", response: { status: 503 } }],
    ["its response, where its own is no failure's", { status: 7, response: { status: 503 } }],
  ])("may stand on %s", (_where, error) => {
    expect(look(error)).toMatchObject({ verdict: "transient", code: "HTTP_503" });
  });

  it.each([
    [403, { "x-ratelimit-remaining": " 0 " }, "transient"],
    [403, { "x-ratelimit-remaining": "5", "ratelimit-remaining": "0" }, "transient"],
    [403, {}, "permanent"],
    [401, { "retry-after": "5" }, "permanent"],
    [401, { "x-ratelimit-remaining": "0" }, "permanent"],
  ])("%i with %j is %s", (status, headers, verdict) => {
    expect(look({ status, headers }).verdict).toBe(verdict);
  });
});

describe("a reset after a handshake", () => {
  it("counts up to a second after it, and from its very instant", () => {
    const reset = (secureConnectedAt: number): unknown => coded("ECONNRESET", "x", { secureConnectedAt });
    const verdictAt = (at: number): string => classify(reset(1_000), { now: at }).verdict;
    expect([999, 1_000, 2_000, 2_001].map(verdictAt)).toEqual([
      "transient",
      "suspect",
      "suspect",
      "transient",
    ]);
  });

  it("is found on whatever link of the chain says when that was", () => {
    const inner = coded("ECONNRESET", "x", { secureConnectedAt: 1_000 });
    const outer = new TypeError("fetch failed", { cause: inner });
    expect(classify(outer, { now: 1_500 }).verdict).toBe("suspect");
  });

  it("takes no other verdict away", () => {
    const marked = Object.assign(new Error("x"), { code: "EPROTO", secureConnectedAt: 1_000 });
    expect(classify(marked, { now: 1_500 })).toMatchObject({ verdict: "suspect", code: "EPROTO" });
  });
});

describe("a duration of RetryInfo", () => {
  const type = "google.rpc.RetryInfo";
  const wait = (detail: object, more: object = {}): number | undefined =>
    look(
      named("ConnectError", "busy", { code: 8, rawMessage: "busy", details: [{ type, ...detail }], ...more }),
    ).retryAfterMs;

  it.each<[unknown, number | undefined]>([
    ["4s", 4_000],
    ["12.5s", 12_500],
    ["0.123456789s", 124],
    ["1.5 s", undefined],
    ["1.5seconds", undefined],
    [{ seconds: 4 }, 4_000],
    [{ seconds: 0, nanos: 1 }, 1],
    [{ nanos: 5e8 }, 500],
    [{ seconds: 4n, nanos: 999_999_999 }, 5_000],
    [{ seconds: "40", nanos: null }, 40_000],
    [{ seconds: { toString: () => "40" } }, 40_000],
    [{ seconds: "4x" }, undefined],
    [{ seconds: "x4" }, undefined],
    [{ seconds: 4, nanos: -1 }, undefined],
    [{ seconds: 4, nanos: 1e9 }, undefined],
    [{ seconds: 315_576_000_000 }, 315_576_000_000_000],
    [{ seconds: 315_576_000_001 }, undefined],
    [{ seconds: Object.create(null) as object }, undefined],
  ])("of %o is %s ms", (retryDelay, ms) => {
    expect(wait({ retryDelay })).toBe(ms);
    expect(wait({ retry_delay: retryDelay })).toBe(ms);
    expect(wait({ debug: { retryDelay } })).toBe(ms);
    expect(wait({ value: { retryDelay } })).toBe(ms);
  });

  it("is read from the detail that has one, under each client's name of its type", () => {
    const retryDelay = "4s";
    for (const key of ["type", "@type", "$typeName"]) {
      const detail = { type: undefined, [key]: `type.googleapis.com/${type}`, retryDelay };
      expect(wait({}, { details: [{ type: "google.rpc.DebugInfo", retryDelay: "9s" }, detail] })).toBe(4_000);
    }
    expect(wait({}, { details: [{ retryDelay }] })).toBeUndefined();
    expect(wait({}, { details: [{ type: "xgoogle.rpc.RetryInfo", retryDelay }] })).toBeUndefined();
    expect(wait({}, { details: "none" })).toBeUndefined();
    // A detail that says nothing leaves the question to the next one.
    expect(wait({}, { details: [{ type }, { type, retryDelay }] })).toBe(4_000);
    const far = Array.from({ length: 32 }, () => ({ type: "google.rpc.DebugInfo" }));
    expect(wait({}, { details: [...far.slice(1), { type, retryDelay }] })).toBe(4_000);
    expect(wait({}, { details: [...far, { type, retryDelay }] })).toBeUndefined();
  });

  const field = (number: number, ...bytes: number[]): number[] => [number * 8 + 2, bytes.length, ...bytes];
  const text = (value: string): number[] => [...Buffer.from(value)];
  const status = (...any: number[]): Uint8Array => Uint8Array.from(field(3, ...any));
  const trailer = (bytes: Uint8Array | string): number | undefined =>
    look(grpc(8, "busy", { "grpc-status-details-bin": bytes })).retryAfterMs;
  const url = field(1, ...text(type));

  it("is read from the trailer past fields that it does not know, and in the other alphabet of base64", () => {
    const duration = field(1, 8, 4);
    const fixed64 = [4 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8];
    const fixed32 = [5 * 8 + 5, 1, 2, 3, 4];
    for (const before of [[], fixed64, fixed32, field(6, 1, 2), [7 * 8, 5]]) {
      const bytes = status(...before, ...url, ...field(2, ...before, ...duration));
      expect(trailer(bytes)).toBe(4_000);
      const base64 = Buffer.from(bytes).toString("base64");
      expect(trailer(base64)).toBe(4_000);
      expect(trailer(Buffer.from(bytes).toString("base64url"))).toBe(4_000);
    }
    // Bytes that need the two letters in which the alphabets differ.
    const odd = status(
      ...url,
      ...field(2, ...duration),
      ...field(6, 251, 239, 190, 255, 255, 255, 251, 239, 190),
    );
    expect(Buffer.from(odd).toString("base64")).toMatch(/[+/]/);
    expect(trailer(Buffer.from(odd).toString("base64url"))).toBe(4_000);
  });

  it.each([
    ["has no type", status(...field(2, ...field(1, 8, 4)))],
    ["has no value", status(...url)],
    [
      "is of another type",
      status(...field(1, ...text("google.rpc.DebugInfo")), ...field(2, ...field(1, 8, 4))),
    ],
    ["has no duration", status(...url, ...field(2))],
    ["has a group, which nobody writes any more", status(3, ...url, ...field(2, ...field(1, 8, 4)))],
    ["has a type that is a number", status(8, 5, ...field(2, ...field(1, 8, 4)))],
    ["is empty", ""],
  ])("is none in a trailer that %s", (_what, bytes) => {
    expect(trailer(bytes)).toBeUndefined();
  });

  it("is zero where its fields are absent, as protobuf leaves them out", () => {
    expect(trailer(status(...url, ...field(2, ...field(1))))).toBe(0);
    expect(trailer(status(...url, ...field(2, ...field(1, ...field(1, 4)))))).toBe(0);
  });
});

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
