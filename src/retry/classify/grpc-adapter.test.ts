import { describe, expect, it } from "vitest";
import { coded, grpc, look, named } from "../../../test/retry/described-errors.js";

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
