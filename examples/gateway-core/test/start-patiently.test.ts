import { VirtualClock } from "slipway/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { startPatiently, type StartAttempt } from "../src/cli/start-patiently.js";
import { GatewayProcess } from "../src/demo/gateway-process.js";
import { InvalidInputError } from "../src/input-error.js";
import { sleep } from "../src/sleep.js";
import { isDatabaseAway } from "../src/store/postgres/away.js";
import { orAway } from "../src/store/store-away.js";
import { eventually } from "../src/testing/eventually.js";
import { findPostgres, PostgresServer } from "./postgres-server.js";
import { tempDir } from "./temp-dir.js";

const LIMIT_MS = 60_000;

function coded(code: string, message = "no"): Error {
  return Object.assign(new Error(message), { code });
}

type Step = Error | ((attempt: StartAttempt) => Promise<void>);

/** A start on a database that fails so, one time after the other, and then succeeds. */
function starting(failures: readonly Step[], clock = new VirtualClock()) {
  const waits: string[] = [];
  const left = [...failures];
  let starts = 0;
  const start = (attempt: StartAttempt): Promise<string> =>
    orAway(isDatabaseAway, async () => {
      starts += 1;
      const step = left.shift();
      if (step instanceof Error) throw step;
      await step?.(attempt);
      attempt.onAnswer();
      return "up";
    });
  const result = startPatiently(start, {
    limitMs: LIMIT_MS,
    clock,
    log: (event, fields) => waits.push(`${event}: ${String(fields["why"])}`),
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
    expect(waits[0]).toContain(failure.message);
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

  it("waits for nothing but the store, whatever it failed with", async () => {
    const clock = new VirtualClock();
    const failure = coded("ECONNREFUSED", "connect ECONNREFUSED /var/run/docker.sock");
    const start = (): Promise<never> => Promise.reject(failure);
    const result = startPatiently(start, { limitMs: LIMIT_MS, clock, log: () => undefined });
    await expect(result).rejects.toBe(failure);
    expect(clock.timers).toBe(0);
  });

  it("ends at its limit, and says what it waited for", async () => {
    const { result, clock } = starting(Array.from({ length: 1000 }, () => coded("57P03", "is starting up")));
    await clock.advanceAsync(LIMIT_MS);
    await expect(result).rejects.toThrow("not started within 60000 ms: is starting up");
    expect(clock.timers).toBe(0);
  });

  it("may take any time where nothing is away", async () => {
    const clock = new VirtualClock();
    const { result, starts, waits } = starting([() => sleep(clock, 100 * LIMIT_MS)], clock);
    await clock.advanceAsync(100 * LIMIT_MS);
    expect(await result).toBe("up");
    expect([starts(), waits.length, clock.timers]).toEqual([1, 0, 0]);
  });

  it("may take any time once what was away answers", async () => {
    const clock = new VirtualClock();
    const work = async ({ onAnswer }: StartAttempt): Promise<void> => {
      await sleep(clock, LIMIT_MS / 2);
      onAnswer();
      await sleep(clock, 100 * LIMIT_MS);
    };
    const { result, starts } = starting([coded("57P03"), work], clock);
    await clock.advanceAsync(101 * LIMIT_MS);
    expect(await result).toBe("up");
    expect([starts(), clock.timers]).toEqual([2, 0]);
  });

  it.each([
    // The first one found nothing away; each of the others waits for ten seconds, and half a minute of its work counts.
    ["long", 100 * LIMIT_MS, 3],
    // Fails again as soon as it was answered, so that all of it was waiting.
    ["hardly at all", 5000, 5],
  ])("counts together what it waited, where it works %s in between", async (_, workMs, most) => {
    const clock = new VirtualClock();
    let starts = 0;
    const cycle = async ({ onAnswer }: StartAttempt): Promise<void> => {
      starts += 1;
      await sleep(clock, 10_000);
      onAnswer();
      await sleep(clock, workMs);
      throw coded("57P01");
    };
    const { result } = starting(
      Array.from({ length: 1000 }, () => cycle),
      clock,
    );
    await clock.advanceAsync(10 * (workMs + LIMIT_MS));
    await expect(result).rejects.toThrow("not started within 60000 ms: no");
    expect(starts).toBe(most);
    expect(clock.timers).toBe(0);
  });

  it("is given up at the limit while it waits for an answer, and nothing follows the answer", async () => {
    const clock = new VirtualClock();
    const after: string[] = [];
    const hanging = async ({ onAnswer }: StartAttempt): Promise<void> => {
      await sleep(clock, 2 * LIMIT_MS);
      after.push("answered");
      onAnswer();
      after.push("went on");
    };
    const { result } = starting([coded("57P03", "is starting up"), hanging], clock);
    await clock.advanceAsync(LIMIT_MS);
    await expect(result).rejects.toThrow("not started within 60000 ms: is starting up");
    await clock.advanceAsync(2 * LIMIT_MS);
    expect(after).toEqual(["answered"]);
    expect(clock.timers).toBe(0);
  });

  it("is not begun again by a limit of a millisecond, and not cut by it", async () => {
    const clock = new VirtualClock();
    const start = async ({ onAnswer }: StartAttempt): Promise<string> => {
      await sleep(clock, 500);
      onAnswer();
      return "up";
    };
    const result = startPatiently(start, { limitMs: 1, clock, log: () => undefined });
    await clock.advanceAsync(500);
    expect(await result).toBe("up");
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
