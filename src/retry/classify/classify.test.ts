import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { coded, fetchFailed, grpc, http, verdictOf } from "../../../test/retry/errors.js";
import { classify } from "./index.js";

describe("scenarios C", () => {
  it.each([
    "ECONNREFUSED",
    "ECONNRESET",
    "EPIPE",
    "ETIMEDOUT",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "EADDRNOTAVAIL",
  ])("C-01 %s is transient", (code) => {
    expect(verdictOf(coded(code))).toBe("transient");
    expect(classify(fetchFailed(coded(code)))).toMatchObject({ verdict: "transient", code });
  });

  it("C-03 a missing socket is transient, a missing file is not", () => {
    expect(verdictOf(coded("ENOENT", { syscall: "connect", address: "/run/sidecar.sock" }))).toBe(
      "transient",
    );
    expect(verdictOf(coded("ENOENT", { syscall: "open", path: "/run/token" }))).toBe("suspect");
    expect(verdictOf(coded("ENOENT", { syscall: "open", path: "/etc/tls/ca.crt" }))).toBe("permanent");
    expect(verdictOf(coded("ENOENT", { syscall: "open", path: "/etc/tls/tls.key" }))).toBe("suspect");
  });

  it.each(["EINVAL", "EAFNOSUPPORT", "ERR_INVALID_URL", "ERR_SOCKET_BAD_PORT", "ERR_INVALID_ARG_TYPE"])(
    "C-06 %s is permanent",
    (code) => expect(verdictOf(coded(code))).toBe("permanent"),
  );

  it.each(["unknown scheme", "bad port"])("C-08 fetch failed because of %s is permanent", (message) => {
    expect(verdictOf(fetchFailed(new Error(message)))).toBe("permanent");
    expect(verdictOf(fetchFailed())).toBe("permanent");
  });

  it.each([
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    "ERR_OSSL_X509_KEY_VALUES_MISMATCH",
    "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
    "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE",
  ])("C-13 %s is permanent", (code) => expect(verdictOf(coded(code))).toBe("permanent"));

  it("C-14 EPROTO is judged by its alert", () => {
    const eproto = (message: string): Error => Object.assign(new Error(message), { code: "EPROTO" });
    expect(
      verdictOf(eproto("write EPROTO 0:error:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure")),
    ).toBe("permanent");
    expect(verdictOf(eproto("write EPROTO:SSL routines:tlsv1 alert protocol version:"))).toBe("permanent");
    expect(verdictOf(eproto("write EPROTO:SSL routines:tlsv1 alert internal error:"))).toBe("suspect");
    expect(verdictOf(eproto("read EPROTO"))).toBe("suspect");
  });

  it.each([
    "No connection established. Last error: Error: self-signed certificate",
    "Hostname/IP does not match certificate's altnames: Host: localhost.",
    "Last error: 80:error:0A00010B:SSL routines:ssl3_get_record:wrong version number",
    "Last error: tlsv13 alert certificate required",
    "Failed to parse DNS address dns:[::1",
    "Last error: Error [CERT_HAS_EXPIRED]: certificate has expired",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ])("C-17 UNAVAILABLE with %j is permanent", (details) => {
    expect(verdictOf(grpc(14, details))).toBe("permanent");
    expect(verdictOf(grpc(14, "connect ECONNREFUSED"))).toBe("transient");
  });

  it.each([16, 7, 3, 9, 11, 15, 6, 5])("C-18 gRPC %i is permanent", (code) =>
    expect(verdictOf(grpc(code))).toBe("permanent"),
  );

  it.each([400, 401, 403, 407, 422, 426, 451, 501, 505, 511, 302])("C-23 HTTP %i is permanent", (status) =>
    expect(verdictOf(http(status))).toBe("permanent"),
  );

  it.each([404, 409, 500])("C-25 HTTP %i is suspect", (status) =>
    expect(verdictOf(http(status))).toBe("suspect"),
  );

  it("C-26 legacy codes of DOM exceptions are no gRPC statuses", () => {
    expect(verdictOf(new DOMException("", "NamespaceError"))).not.toBe("transient");
    expect(verdictOf(new DOMException("", "SyntaxError"))).not.toBe("transient");
  });

  it("C-27 cancellation comes from the caller's signal, never from a name", () => {
    const timeout = new DOMException("", "TimeoutError");
    const abort = new DOMException("", "AbortError");
    expect(classify(timeout, { timedOut: true })).toMatchObject({
      verdict: "transient",
      code: "ATTEMPT_TIMEOUT",
    });
    expect(classify(abort, { signal: AbortSignal.abort() }).verdict).toBe("cancelled");
    expect(classify(abort, { signal: new AbortController().signal }).verdict).toBe("suspect");
  });

  it("C-30 circles and long chains are bounded", () => {
    const circle = new Error("circle");
    let looks = 0;
    Object.defineProperty(circle, "cause", { get: () => (looks += 1) && circle });
    expect(verdictOf(circle)).toBe("suspect");
    expect(looks).toBeLessThan(20);
    const chain = (at: number): Error => {
      let error: Error = new Error("end");
      for (let link = 1000; link >= 1; link -= 1)
        error =
          link === at ? coded("ECONNREFUSED", { cause: error }) : new Error(`link ${link}`, { cause: error });
      return error;
    };
    expect(verdictOf(chain(3))).toBe("transient");
    expect(verdictOf(chain(900))).toBe("suspect");
  });

  it("C-31 a plain error is suspect", () => expect(verdictOf(new Error("boom"))).toBe("suspect"));

  it("covers every C row of the table", () => {
    const source = readFileSync(import.meta.filename, "utf8");
    for (const [, id] of readFileSync("test/fixtures/vectors/scenarios.md", "utf8").matchAll(
      /^\| (C-\d+) \|/gm,
    ))
      expect(source).toContain(`"${id!} `);
  });
});

describe("a reset right after a TLS handshake", () => {
  const reset = (code: string, secureConnectedAt?: number): unknown =>
    Object.assign(new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) }), {
      secureConnectedAt,
    });

  it.each(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"])("is suspect: %s", (code) => {
    expect(classify(reset(code, 1000), { now: 1400 })).toMatchObject({
      verdict: "suspect",
      code,
      kind: "tls",
    });
    expect(classify(reset(code, 1000), { now: 1400 }).explanation).toContain("clientCertificateRejected?");
  });

  it.each([
    ["later", reset("ECONNRESET", 1000), { now: 2001 }],
    ["before it", reset("ECONNRESET", 1000), { now: 999 }],
    ["without one", reset("ECONNRESET"), { now: 1000 }],
    ["at an unknown time", reset("ECONNRESET", 1000), {}],
    ["of another kind", reset("ECONNREFUSED", 1000), { now: 1000 }],
  ])("and no other is: %s", (_what, error, context) => {
    expect(classify(error, context).verdict).toBe("transient");
  });
});
