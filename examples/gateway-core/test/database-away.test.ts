import { describe, expect, it } from "vitest";
import { isDatabaseAway } from "../src/store/postgres/away.js";

function coded(code: string, message = "no"): Error {
  return Object.assign(new Error(message), { code });
}

describe("a database that failed", () => {
  it.each([
    ["nobody listens yet", coded("ECONNREFUSED")],
    [
      "nobody listens yet, at any address",
      Object.assign(new AggregateError([coded("ECONNREFUSED")]), { code: "ECONNREFUSED" }),
    ],
    ["it has no name yet", coded("ENOTFOUND", "getaddrinfo ENOTFOUND postgres")],
    ["the connection was reset", coded("ECONNRESET")],
    ["the server starts", coded("57P03", "the database system is starting up")],
    ["an administrator ended it", coded("57P01")],
    ["it crashed", coded("57P02")],
    ["the connection failed", coded("08006")],
    ["it refused the connection", coded("08004")],
    ["it has too many connections", coded("53300")],
    ["it has no memory left for now", coded("53200")],
    ["its disk is full for now", coded("53100")],
    ["its disk failed", coded("58030")],
    ["it took too long for a statement", coded("57014", "canceling statement due to statement timeout")],
    ["somebody has a lock", coded("55P03")],
    ["a deadlock was resolved", coded("40P01")],
    ["a transaction came in between", coded("40001")],
    ["a standby is not the primary yet", coded("25006")],
    ["it ended a session that was silent", coded("25P03")],
    ["the connection broke", new Error("Connection terminated unexpectedly")],
    ["the connection was ended", new Error("Connection terminated")],
    ["the connection never came", new Error("timeout exceeded when trying to connect")],
    ["the connection never came, says its client", new Error("timeout expired")],
    ["no answer came", new Error("Query read timeout")],
    ["it broke before", new Error("Client has encountered a connection error and is not queryable")],
    ["it was closed before", new Error("Client was closed and is not queryable")],
  ])("may come by itself: %s", (_, error) => {
    expect(isDatabaseAway(error)).toBe(true);
  });

  it.each([
    ["a wrong password", coded("28P01", "password authentication failed")],
    ["no such database", coded("3D000")],
    ["a database that was dropped", coded("57P04")],
    ["what a pooler does not take", coded("08P01", "unsupported startup parameter: statement_timeout")],
    ["a limit of its configuration", coded("53400")],
    ["a table that is missing", coded("42P01")],
    ["no right to it", coded("42501")],
    ["an unknown failure of its own", coded("XX000")],
    ["a certificate that has expired", coded("CERT_HAS_EXPIRED")],
    ["a server without TLS", new Error("The server does not support SSL connections")],
    ["a mistake of the program", new TypeError("undefined is no function")],
    ["nothing at all", undefined],
  ])("does not come by itself: %s", (_, error) => {
    expect(isDatabaseAway(error)).toBe(false);
  });
});
