import { describe, expect, it } from "vitest";
import { coded, fetchFailed, grpc, http, verdictOf } from "../../../test/retry/errors.js";
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
