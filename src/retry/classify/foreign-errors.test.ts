import { describe, expect, it } from "vitest";
import type { Classification } from "../verdict.js";
import { classify } from "./index.js";
import { fetchTexts } from "./runtime-names.js";

/** Errors in the form in which clients and runtimes throw them, row by row: what they must come out as. */

const now = Date.UTC(2027, 0, 15, 8);
const coded = (code: string, message = `failed with ${code}`, more: object = {}): Error =>
  Object.assign(new Error(message), { code, ...more });
const named = (name: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { name, ...more });
const fetchFailed = (cause: unknown): TypeError => new TypeError("fetch failed", { cause });
const grpc = (code: number, details: string, metadata: Record<string, unknown> = {}): Error =>
  Object.assign(new Error(details), {
    code,
    details,
    metadata: { get: (key: string) => (metadata[key] === undefined ? [] : [metadata[key]]) },
  });
const connect = (code: number, more: object = {}): Error =>
  Object.assign(named("ConnectError", "busy", { code, rawMessage: "busy", metadata: new Headers() }), more);
const look = (error: unknown): Classification => classify(error, { now });

describe("clients of HTTP", () => {
  const limited = { "retry-after": "5" };
  it.each([
    ["axios, the status beside the response", { status: 503, response: { status: 503, headers: limited } }],
    ["got", { response: { statusCode: 503, headers: limited } }],
    ["ky", { response: new Response("", { status: 503, headers: limited }) }],
    ["undici, raw", { statusCode: 503, headers: ["Server", "x", "Retry-After", "5"] }],
    ["undici, bytes", { statusCode: 503, headers: [Buffer.from("retry-after"), Buffer.from("5")] }],
    ["pairs", { statusCode: 503, headers: [["retry-after", "5"]] }],
    ["Azure", { statusCode: 503, headers: { "x-ms-retry-after-ms": "5000" } }],
    ["superagent", { status: 503, response: { headers: limited } }],
  ])("are told when to come back: %s", (_client, error) => {
    expect(look(error)).toMatchObject({ verdict: "transient", code: "HTTP_503", retryAfterMs: 5000 });
  });

  const answer = (code: number, headers: object = {}): Error =>
    Object.assign(new Error(`HTTP-Code: ${code}`), { code, body: undefined, headers });
  const status = (code: number): object => ({ kind: "Status", apiVersion: "v1", status: "Failure", code });
  it.each([
    [answer(401), "permanent", "HTTP_401"],
    [answer(403), "permanent", "HTTP_403"],
    [answer(404), "suspect", "HTTP_404"],
    [answer(503), "transient", "HTTP_503"],
    [new Error("no pod", { cause: answer(422) }), "permanent", "HTTP_422"],
    [status(403), "permanent", "HTTP_403"],
    [status(503), "transient", "HTTP_503"],
    [{ response: { headers: {} }, code: 403 }, "suspect", "UNKNOWN_ERROR"],
    [Object.assign(new Error("Command failed"), { code: 127, cmd: "mkfs" }), "suspect", "Error"],
  ] as const)(
    "are understood where Kubernetes' API says the status as a code: %#",
    (error, verdict, code) => {
      expect(look(error)).toMatchObject({ verdict, code });
      expect(look(answer(429, limited))).toMatchObject({ verdict: "transient", retryAfterMs: 5000 });
    },
  );

  it.each([
    ["retry-after", "a value's own place"],
    ["x", "retry-after"],
  ])("are not misread where a value looks like a name: %s, %s", (name, value) => {
    const headers = [name, value, "retry-after", "7"];
    expect(look({ statusCode: 503, headers }).retryAfterMs).toBe(name === "x" ? 7000 : undefined);
  });

  it.each([
    [coded("ERR_FR_TOO_MANY_REDIRECTS"), "permanent"],
    [coded("ERR_TOO_MANY_REDIRECTS"), "permanent"],
    [coded("ERR_UNSUPPORTED_PROTOCOL"), "permanent"],
    [coded("ERR_BAD_OPTION_VALUE"), "permanent"],
    [coded("ERR_CANCELED", "canceled", { name: "CanceledError" }), "suspect"],
    [coded("ERR_NETWORK", "Network Error"), "suspect"],
    [coded("ECONNABORTED", "timeout of 10ms exceeded"), "transient"],
    [named("FetchError", "network timeout at: x", { type: "request-timeout" }), "transient"],
    [named("FetchError", "Response timeout", { type: "body-timeout" }), "transient"],
    [named("FetchError", "maximum redirect reached", { type: "max-redirect" }), "permanent"],
    [named("FetchError", "invalid json", { type: "invalid-json" }), "suspect"],
    [coded("UND_ERR_NOT_SUPPORTED"), "permanent"],
    [coded("UND_ERR_INVALID_RETURN_VALUE"), "permanent"],
    [coded("UND_ERR_RESPONSE", "x", { statusCode: 503 }), "transient"],
    [coded("UND_ERR_REQ_RETRY", "x", { statusCode: 401 }), "permanent"],
    [fetchFailed(new DOMException("late", "TimeoutError")), "transient"],
    [fetchFailed(new DOMException("stopped", "AbortError")), "suspect"],
  ] as const)("%s is %s-like as the tables say", (error, verdict) => {
    expect(look(error).verdict).toBe(verdict);
  });
});

describe("runtimes", () => {
  const cannotSend = (why: string): TypeError =>
    new TypeError(`error sending request for url (https://gw/): client error (Connect): ${why}`);
  it.each([
    [coded("ConnectionRefused", "Unable to connect. Is the computer able to access the url?"), "transient"],
    [coded("ConnectionClosed", "The socket connection was closed unexpectedly."), "transient"],
    [coded("FailedToOpenSocket", "Was there a typo in the url or port?"), "transient"],
    [named("ConnectionRefused", "Connection refused (os error 111)"), "transient"],
    [named("ConnectionReset", "Connection reset by peer (os error 104)"), "transient"],
    [named("TimedOut", "Connection timed out"), "transient"],
    [named("AddrInUse", "Address already in use"), "suspect"],
    [named("InvalidData", "invalid peer certificate: UnknownIssuer"), "permanent"],
    [named("InvalidData", "not a number"), "suspect"],
    [cannotSend("tcp connect error: Connection refused (os error 111)"), "transient"],
    [cannotSend("dns error: failed to lookup address information: Name or service not known"), "transient"],
    [cannotSend("invalid peer certificate: UnknownIssuer"), "permanent"],
    [cannotSend('invalid peer certificate: certificate not valid for name "gw"'), "permanent"],
    [cannotSend("something else"), "suspect"],
  ] as const)("%s is %s", (error, verdict) => {
    expect(look(error).verdict).toBe(verdict);
  });

  it.each([
    "Failed to fetch",
    "Failed to fetch (gw.example)",
    "Load failed",
    "Load failed (gw.example)",
    "NetworkError when attempting to fetch resource.",
    "Network request failed",
    "network error",
    "A network error occurred.",
  ])("that keep the cause to themselves are suspect: %s", (message) => {
    expect(look(new TypeError(message)).verdict).toBe("suspect");
  });

  it.each([
    "The Internet connection appears to be offline.",
    "A server with the specified hostname could not be found.",
    "Could not connect to the server.",
    "The network connection was lost.",
    "The request timed out.",
    "error reading a body from connection: unexpected EOF",
    "terminated",
  ])("that say why are transient: %s", (message) => {
    expect(look(new TypeError(message)).verdict).toBe("transient");
  });

  it("leave a mistake of the program what it is", () => {
    for (const message of ["Failed to fetch the config of undefined", "x.network error", "Load failed: x"])
      expect(look(new TypeError(message)).verdict).toBe("permanent");
    for (const [, { explanation }] of fetchTexts) expect(explanation.length).toBeGreaterThan(15);
  });

  it("count as mistakes of the program what the table names, and nothing else", () => {
    for (const mistake of [
      new TypeError("x"),
      new RangeError("x"),
      new SyntaxError("x"),
      new ReferenceError("x"),
    ])
      expect(look(mistake).verdict).toBe("permanent");
    for (const other of [new URIError("URI malformed"), new EvalError("x")])
      expect(look(other).verdict).toBe("suspect");
  });
});

describe("TLS", () => {
  it.each([
    "SUBJECT_ISSUER_MISMATCH",
    "AUTHORITY_ISSUER_SERIAL_NUMBER_MISMATCH",
    "INVALID_NON_CA",
    "EE_KEY_TOO_SMALL",
    "CA_MD_TOO_WEAK",
    "ERR_TLS_REQUIRED_SERVER_NAME",
  ])("%s is permanent, also inside fetch failed", (code) => {
    expect(look(coded(code)).verdict).toBe("permanent");
    expect(look(fetchFailed(coded(code)))).toMatchObject({ verdict: "permanent", code });
  });

  it("is read from the text where Node has no code", () => {
    expect(look(coded("UNSPECIFIED", "EE certificate key too weak"))).toMatchObject({
      verdict: "permanent",
      code: "EE_KEY_TOO_SMALL",
    });
    expect(look(coded("UNSPECIFIED", "CA signature digest algorithm too weak")).verdict).toBe("permanent");
    expect(look(coded("UNSPECIFIED", "no words for it")).verdict).toBe("suspect");
  });

  it("is read from OpenSSL's own words for a name that the server does not know, which say nothing of an alert", () => {
    const words =
      "0:error:0A000458:SSL routines:ssl3_read_bytes:tlsv1 unrecognized name:SSL alert number 112";
    const found = { verdict: "suspect", code: "ERR_SSL_TLSV1_UNRECOGNIZED_NAME" };
    expect(look(grpc(14, `No connection established. Last error: Error: ${words}`))).toMatchObject(found);
    expect(look(coded("EPROTO", `write EPROTO ${words}`))).toMatchObject(found);
  });
});

/** `google.rpc.Status` with a RetryInfo of seconds and nanoseconds, in protobuf. */
function statusWith(seconds: number[], nanos: number[] = []): Uint8Array {
  const field = (number: number, bytes: readonly number[]): number[] => [
    number * 8 + 2,
    bytes.length,
    ...bytes,
  ];
  const text = (value: string): number[] => [...Buffer.from(value)];
  const duration = [8, ...seconds, ...(nanos.length > 0 ? [16, ...nanos] : [])];
  const any = (type: string, value: readonly number[]): number[] =>
    field(3, [...field(1, text(`type.googleapis.com/google.rpc.${type}`)), ...field(2, value)]);
  const retryInfo = any("RetryInfo", field(1, duration));
  return Uint8Array.from([8, 8, ...field(2, text("busy")), ...any("DebugInfo", [10, 1, 120]), ...retryInfo]);
}

describe("RetryInfo", () => {
  const bytes = statusWith([4], [0x80, 0xca, 0xb5, 0xee, 0x01]);
  const base64 = Buffer.from(bytes).toString("base64").replace(/=+$/, "");
  it.each([
    ["grpc-js", grpc(8, "busy", { "grpc-status-details-bin": bytes })],
    ["grpc-js, in base64", grpc(8, "busy", { "grpc-status-details-bin": base64 })],
    ["Connect's trailer", connect(8, { metadata: new Headers({ "grpc-status-details-bin": base64 }) })],
    ["Connect", connect(8, { details: [{ type: "google.rpc.RetryInfo", debug: { retryDelay: "4.5s" } }] })],
    [
      "Connect, bytes",
      connect(8, { details: [{ type: "google.rpc.RetryInfo", value: Uint8Array.from([10, 2, 8, 5]) }] }),
      5000,
    ],
    [
      "gax",
      Object.assign(grpc(8, "busy"), {
        statusDetails: [
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: { seconds: "4", nanos: 5e8 } },
        ],
      }),
    ],
  ])("is a floor for the wait and makes RESOURCE_EXHAUSTED transient: %s", (_client, error, ms = 4500) => {
    expect(look(error)).toMatchObject({ verdict: "transient", retryAfterMs: ms });
  });

  const negative = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
  it.each([
    ["negative", statusWith(negative)],
    ["cut off", bytes.subarray(0, bytes.length - 9)],
    ["noise", Uint8Array.from([255, 255, 255, 255, 7, 3])],
    ["empty", new Uint8Array()],
    ["no base64", "***"],
    ["no bytes at all", 7],
  ])("that cannot be one is no hint: %s", (_what, trailer) => {
    const found = look(grpc(8, "busy", { "grpc-status-details-bin": trailer }));
    expect(found.verdict).toBe("suspect");
    expect(found.retryAfterMs).toBeUndefined();
  });

  it.each([
    "-1s",
    "1",
    "soon",
    "NaNs",
    "1e3s",
    null,
    {},
    { seconds: -1 },
    { seconds: Number.NaN },
    { seconds: {} },
  ])("decoded to garbage is no hint: %j", (retryDelay) => {
    const found = look(connect(8, { details: [{ type: "google.rpc.RetryInfo", debug: { retryDelay } }] }));
    expect(found.retryAfterMs ?? 0).toBe(0);
  });

  it("never outranks a pushback that says stop", () => {
    const metadata = { "grpc-status-details-bin": bytes, "grpc-retry-pushback-ms": "-1" };
    expect(look(grpc(14, "busy", metadata)).verdict).toBe("permanent");
  });
});

describe("gRPC in other clothes", () => {
  it.each([
    [named("RpcError", "upstream connect error", { code: 14, metadata: {} }), "transient"],
    [named("RpcError", "self-signed certificate", { code: 14, metadata: {} }), "permanent"],
    [grpc(14, 'Could not find a resolver for target "foo://x"'), "permanent"],
    [grpc(14, "Name resolution failed for target dns:///no-such.invalid:50051"), "transient"],
    [grpc(14, "Name resolution failed for target dns://127.0.0.1/no-such.invalid:50051"), "transient"],
    [grpc(14, "Name resolution failed for target dns://127.0.0.1:1/gw:50051"), "transient"],
    [grpc(14, "Name resolution failed for target dns://[::1]:53/gw:50051"), "transient"],
    [grpc(14, "Name resolution failed for target dns:gw:50051"), "transient"],
    [grpc(14, "Name resolution failed for target dns://gw:50051"), "permanent"],
    [grpc(14, "Name resolution failed for target dns:///http://gw:50051"), "permanent"],
    [grpc(14, "Name resolution failed for target dns:gw:1:2"), "permanent"],
    [
      named("SuppressedError", "x", { error: new Error("close"), suppressed: coded("ECONNREFUSED") }),
      "transient",
    ],
  ] as const)("%s is %s", (error, verdict) => {
    expect(look(error).verdict).toBe(verdict);
  });
});
