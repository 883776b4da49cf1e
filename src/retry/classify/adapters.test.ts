import { describe, expect, it } from "vitest";
import { coded, look, named } from "../../../test/retry/described-errors.js";
import { classify } from "./index.js";

/** Where one adapter ends and another begins: what makes an error a gRPC status, a file's, or a program's. */

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
