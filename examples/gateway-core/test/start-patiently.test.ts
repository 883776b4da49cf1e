import { VirtualClock } from "slipway/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { startPatiently } from "../src/cli/start-patiently.js";
import { GatewayProcess } from "../src/demo/gateway-process.js";
import { InvalidInputError } from "../src/input-error.js";
import { eventually } from "../src/testing/eventually.js";
import { findPostgres, PostgresServer } from "./postgres-server.js";
import { tempDir } from "./temp-dir.js";

const LIMIT_MS = 60_000;

function coded(code: string, message = "no"): Error {
  return Object.assign(new Error(message), { code });
}

/** A start that fails so, one time after the other, and then succeeds. */
function starting(failures: readonly Error[], clock = new VirtualClock()) {
  const waits: string[] = [];
  const left = [...failures];
  let starts = 0;
  const start = (): Promise<string> => {
    starts += 1;
    const failure = left.shift();
    return failure === undefined ? Promise.resolve("up") : Promise.reject(failure);
  };
  const result = startPatiently(start, {
    limitMs: LIMIT_MS,
    clock,
    log: (event, fields) => waits.push(`${event}: ${String(fields["why"])}`),
    end: () => Promise.resolve(),
  });
  result.catch(() => undefined);
  return { result, waits, clock, starts: () => starts };
}

describe("a start", () => {
  it.each([
    ["nobody listens yet", coded("ECONNREFUSED")],
    [
      "nobody listens yet, at any address",
      Object.assign(new AggregateError([coded("ECONNREFUSED")]), { code: "ECONNREFUSED" }),
    ],
    ["the server starts", coded("57P03", "the database system is starting up")],
    ["an administrator ended it", coded("57P01")],
    ["it crashed", coded("57P02")],
    ["the connection failed", coded("08006")],
    ["it has too many connections", coded("53300")],
    ["the connection broke", new Error("Connection terminated unexpectedly")],
    ["the connection never came", new Error("timeout exceeded when trying to connect")],
  ])("waits for a database of which it hears: %s", async (_, failure) => {
    const { result, clock, waits, starts } = starting([failure, failure]);
    await clock.advanceAsync(20_000);
    expect(await result).toBe("up");
    expect(starts()).toBe(3);
    expect(waits).toHaveLength(2);
    expect(waits[0]).toMatch(/^start-waits: Bootstrap waits/);
    expect(clock.timers).toBe(0);
  });

  it.each([
    ["a wrong password", coded("28P01", "password authentication failed")],
    ["no such database", coded("3D000")],
    ["a database that was dropped", coded("57P04")],
    ["an address that is taken", coded("EADDRINUSE")],
    ["a wrong option", new InvalidInputError("drivers", "one driver at least", [])],
    ["a mistake of the program", new TypeError("undefined is no function")],
  ])("ends at once with %s, and says just that", async (_, failure) => {
    const { result, starts, clock } = starting([failure]);
    await expect(result).rejects.toBe(failure);
    expect([starts(), clock.timers]).toEqual([1, 0]);
  });

  it("ends at its limit, and says what it waited for", async () => {
    const { result, clock } = starting(Array.from({ length: 1000 }, () => coded("57P03", "is starting up")));
    await clock.advanceAsync(LIMIT_MS);
    await expect(result).rejects.toThrow("not started within 60000 ms: is starting up");
    expect(clock.timers).toBe(0);
  });
});

const postgres = findPostgres();

describe.skipIf("missing" in postgres)(
  `a gateway and its database (${"missing" in postgres ? postgres.missing : "PostgreSQL"})`,
  () => {
    it("come up in any order", { timeout: 120_000 }, async () => {
      const server = await PostgresServer.start("bin" in postgres ? postgres.bin : "");
      const dataDir = await tempDir();
      const databaseUrl = server.url(await server.createDatabase());
      const gateway = new GatewayProcess({
        dataDir,
        args: ["--port", "0", "--database-url", databaseUrl],
        cli: join(import.meta.dirname, "../dist/cli.js"),
      });
      try {
        await server.down();
        const up = gateway.start();
        up.catch(() => undefined);
        await eventually("that it waits", async () =>
          (await readFile(gateway.logPath, "utf8")).includes("start-waits"),
        );
        await server.up();
        expect((await fetch(`${await up}/readyz`)).status).toBe(200);
        const client = new pg.Client({ connectionString: databaseUrl });
        await client.connect();
        expect((await client.query("SELECT count(*)::int AS n FROM data_homes")).rows).toEqual([{ n: 1 }]);
        await client.end();
      } finally {
        await gateway.end("SIGTERM");
        await server.dispose();
      }
    });
  },
);
