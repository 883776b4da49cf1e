import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPool, transaction } from "../src/store/postgres/pool.js";
import { findPostgres, PostgresServer } from "./postgres-server.js";

const postgres = findPostgres();

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
          await expect(work).rejects.toThrow();
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
