import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { permanent, transient } from "../marks.js";
import {
  classify,
  connectCodes,
  fileCodes,
  grpcStatuses,
  grpcStatusNames,
  localCodes,
  networkCodes,
} from "./index.js";
import { tlsAlerts, tlsCodes, tlsPhrases } from "./index.js";
import { tlsEntry } from "./tls-codes.js";

const coded = (code: string | number, more: object = {}): Error =>
  Object.assign(new Error(`failed with ${code}`), { code, ...more });
const grpc = (code: number, details = "as told"): Error =>
  coded(code, { details, metadata: { get: () => [] } });
const named = (name: string): Error => Object.assign(new Error("failed"), { name });
const http = (status: number, headers: Record<string, string> = {}): object => ({ status, headers });
const fetchFailed = (cause?: unknown): TypeError => new TypeError("fetch failed", { cause });
const verdictOf = (error: unknown): string => classify(error).verdict;

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

describe("the tables", () => {
  it.each(Object.entries(tlsAlerts))(
    "decide the alert %s in the words of OpenSSL 3.5 too",
    (alert, entry) => {
      const code = `ERR_SSL_SSL/TLS_ALERT_${alert}`;
      expect(classify(fetchFailed(coded(code)))).toMatchObject({ verdict: entry.verdict, code });
      expect(classify(grpc(14, `Last error: Error [${code}]: failed`))).toMatchObject({
        verdict: entry.verdict,
        code,
      });
    },
  );

  it("explain every entry", () => {
    const tables = [networkCodes, localCodes, fileCodes, connectCodes, tlsCodes, tlsAlerts, grpcStatuses];
    for (const table of tables)
      for (const [code, entry] of Object.entries(table))
        expect(entry.explanation.length, code).toBeGreaterThan(15);
  });

  it.each([...Object.entries(networkCodes), ...Object.entries(localCodes), ...Object.entries(tlsCodes)])(
    "decide %s, also deep in a chain",
    (code, { verdict }) => {
      expect(
        classify(new Error("outer", { cause: new Error("middle", { cause: coded(code) }) })),
      ).toMatchObject({
        verdict,
        code,
      });
    },
  );

  it.each(grpcStatusNames.map((name, code) => [name, code] as const))(
    "decide gRPC %s in each client's form",
    (name, code) => {
      const { verdict } = grpcStatuses[name];
      const connect = Object.assign(new Error(name), {
        name: "ConnectError",
        code,
        rawMessage: "no",
        metadata: new Headers(),
      });
      const nice = Object.assign(new Error(name), { name: "ClientError", path: "/a/b", code, details: "no" });
      for (const error of [grpc(code), connect, nice, coded(name)]) expect(verdictOf(error)).toBe(verdict);
      expect(verdictOf(coded(code))).toBe("suspect");
    },
  );

  it("lead every phrase to a code that has a row", () => {
    for (const [, code] of tlsPhrases) expect(tlsEntry(code), code).toBeDefined();
  });

  it.each([
    [408, "transient"],
    [421, "transient"],
    [425, "transient"],
    [502, "transient"],
    [504, "transient"],
    [529, "transient"],
    [507, "suspect"],
    [530, "suspect"],
    [599, "transient"],
    [525, "permanent"],
    [200, "suspect"],
    [308, "permanent"],
    [418, "permanent"],
    [555, "suspect"],
  ] as const)("decide HTTP %i, wherever the error carries it", (status, verdict) => {
    for (const error of [
      http(status),
      { statusCode: status },
      { response: { status } },
      new Error("x", { cause: http(status) }),
    ])
      expect(classify(error)).toMatchObject({ verdict, code: `HTTP_${status}` });
  });
});

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
