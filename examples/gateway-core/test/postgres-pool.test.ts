import { EventEmitter } from "node:events";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isDatabaseAway } from "../src/store/postgres/away.js";
import { openPool, transaction } from "../src/store/postgres/pool.js";
import { findPostgres, PostgresServer } from "./postgres-server.js";

const postgres = findPostgres();

/** A pool of one connection that fails so; what it was asked, and what it was let go with. */
function failing(fail: (sql: string, client: EventEmitter) => Error | undefined) {
  const asked: string[] = [];
  const released: unknown[] = [];
  const client = Object.assign(new EventEmitter(), {
    query: (sql: string) => {
      asked.push(sql);
      const failure = fail(sql, client);
      return failure === undefined ? Promise.resolve({ rows: [] }) : Promise.reject(failure);
    },
    release: (error: unknown) => released.push(error),
  });
  const pool = { connect: () => Promise.resolve(client) } as unknown as pg.Pool;
  return { pool, asked, released };
}

describe("a transaction that fails", () => {
  const ended = Object.assign(new Error("terminating connection"), { code: "57P01" });
  const useless = new Error("Client has encountered a connection error and is not queryable");

  it("says what it heard first, and asks a connection nothing that broke", async () => {
    const { pool, asked, released } = failing((sql, client) => {
      if (sql === "one") client.emit("error", ended);
      return sql === "two" ? useless : undefined;
    });
    const work = transaction(pool, async (client) => {
      await client.query("one");
      await client.query("two");
    });
    await expect(work).rejects.toBe(ended);
    expect([asked, released]).toEqual([["BEGIN", "one", "two"], [ended]]);
  });

  it("does not wait for a connection once more that did not answer", async () => {
    const silent = new Error("Query read timeout");
    const { pool, asked, released } = failing((sql) => (sql === "one" ? silent : undefined));
    await expect(transaction(pool, (client) => client.query("one"))).rejects.toBe(silent);
    expect([asked, released]).toEqual([["BEGIN", "one"], [silent]]);
  });

  it("is rolled back where the database answered", async () => {
    const refused = Object.assign(new Error("no such table"), { code: "42P01" });
    const { pool, asked, released } = failing((sql) => (sql === "one" ? refused : undefined));
    await expect(transaction(pool, (client) => client.query("one"))).rejects.toBe(refused);
    expect([asked, released]).toEqual([["BEGIN", "one", "ROLLBACK"], [refused]]);
  });
});

describe.skipIf("missing" in postgres)(
  `a transaction (${"missing" in postgres ? postgres.missing : "PostgreSQL"})`,
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start("bin" in postgres ? postgres.bin : "");
    }, 60_000);
    afterAll(() => server.dispose());

    it.each(["fast", "immediate"] as const)(
      "fails when the database ends between two of its statements (%s), and its process goes on",
      { timeout: 60_000 },
      async (mode) => {
        const pool = openPool({ url: server.url(await server.createDatabase()) });
        const unheard: unknown[] = [];
        let stop = (): void => undefined;
        const hear = (error: unknown): void => {
          unheard.push(error);
          stop();
        };
        process.on("uncaughtException", hear);
        try {
          const work = transaction(pool, async (client) => {
            await client.query("SELECT 1");
            const ended = new Promise<void>((resolve) => {
              stop = resolve;
              client.once("end", resolve);
            });
            await server.down(mode);
            await ended;
            await client.query("SELECT 1");
          });
          // Why it ended, and not only that its connection is of no use any more.
          if (mode === "fast") await expect(work).rejects.toMatchObject({ code: "57P01" });
          await expect(work).rejects.toSatisfy(isDatabaseAway);
          expect(unheard).toEqual([]);
          await server.up();
          const answer = await transaction(pool, (client) => client.query("SELECT 1 AS one"));
          expect(answer.rows).toEqual([{ one: 1 }]);
        } finally {
          process.off("uncaughtException", hear);
          await pool.end();
        }
      },
    );
  },
);
