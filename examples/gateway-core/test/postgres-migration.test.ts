import pg from "pg";
import { VirtualClock } from "slipway/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { isDatabaseAway } from "../src/store/postgres/away.js";
import { PostgresStore } from "../src/store/postgres/postgres-store.js";
import { eventually } from "../src/testing/eventually.js";
import { findPostgres, PostgresServer } from "./postgres-server.js";
import { SilentProxy } from "./silent-proxy.js";

const postgres = findPostgres();
const LOCK = "SELECT pg_advisory_xact_lock(4711550300)";

/** What became of it, once it settled. */
function watched<T>(work: Promise<T>) {
  const seen: { value?: T; error?: unknown; over: boolean } = { over: false };
  work.then(
    (value) => Object.assign(seen, { value, over: true }),
    (error: unknown) => Object.assign(seen, { error, over: true }),
  );
  return seen;
}

describe.skipIf("missing" in postgres)(
  `a change of the schema (${"missing" in postgres ? postgres.missing : "PostgreSQL"})`,
  () => {
    let server: PostgresServer;
    let url: string;
    let other: pg.Client;
    const clock = new VirtualClock();

    beforeAll(async () => {
      server = await PostgresServer.start("bin" in postgres ? postgres.bin : "");
    }, 120_000);
    afterAll(() => server.dispose());

    const open = async (): Promise<void> => {
      const database = await server.createDatabase();
      url = server.url(database);
      other = new pg.Client({ connectionString: url });
      await other.connect();
    };
    afterEach(() => other.end());

    /** Lets so much time go by that the database is asked once more, and again, until something is true. */
    const passing = (what: string, ms: number, isSo: () => boolean): Promise<true> =>
      eventually(what, async () => {
        await clock.advanceAsync(ms);
        return isSo() && true;
      });

    it("waits for whoever changes it, answered but not for ever", { timeout: 60_000 }, async () => {
      await open();
      await other.query(`BEGIN; ${LOCK}`);
      const answers: number[] = [];
      let waits = 0;
      const begunAt = clock.now();
      const opening = watched(
        PostgresStore.open(
          { url },
          { clock, onAnswer: () => answers.push(clock.now()), onWait: () => (waits += 1) },
        ),
      );
      await passing("the end of the wait", 20_000, () => opening.over);
      expect(clock.now() - begunAt).toBeGreaterThanOrEqual(600_000);
      expect(String(opening.error)).toMatch(/another gateway has been changing the database's schema/);
      expect(isDatabaseAway(opening.error)).toBe(false);
      expect([answers.length, waits]).toEqual([1, 1]);
      await other.query("ROLLBACK");
    });

    it("goes on when whoever changed it is done", { timeout: 60_000 }, async () => {
      await open();
      await other.query(`BEGIN; ${LOCK}`);
      const opening = watched(PostgresStore.open({ url }, { clock }));
      for (let turn = 0; turn < 5; turn += 1) await clock.advanceAsync(1000);
      expect(opening.over).toBe(false);
      await other.query("COMMIT");
      await passing("a store", 1000, () => opening.over);
      expect(opening.error).toBeUndefined();
      await opening.value?.close();
    });

    it("changes nothing when nobody waits for it any more", { timeout: 60_000 }, async () => {
      await open();
      const givenUp = new Error("given up");
      const onAnswer = (): never => {
        throw givenUp;
      };
      await expect(PostgresStore.open({ url }, { clock, onAnswer })).rejects.toBe(givenUp);
      const { rows } = await other.query("SELECT to_regclass('migrations') AS found");
      expect(rows).toEqual([{ found: null }]);
    });

    it.each([
      "BEGIN",
      "pg_try_advisory",
      "CREATE TABLE IF NOT EXISTS migrations",
      "INSERT INTO migrations",
      "COMMIT",
    ])("ends soon where its connection dies without a word at %s", { timeout: 30_000 }, async (deadly) => {
      await open();
      await using proxy = await SilentProxy.start(server.port);
      proxy.deadly = deadly;
      const through = url.replace(`:${server.port}/`, `:${proxy.port}/`);
      const opening = PostgresStore.open({ url: through, timeoutMs: 200 }, { clock });
      await expect(opening).rejects.toThrow("Query read timeout");
      await expect(opening).rejects.toSatisfy(isDatabaseAway);
      expect(proxy.deadly).toBeNull();
    });

    it("ends where its connection dies without a word in a step that may take long", {
      timeout: 60_000,
    }, async () => {
      await open();
      await using proxy = await SilentProxy.start(server.port);
      proxy.deadly = "CREATE TABLE records";
      const through = url.replace(`:${server.port}/`, `:${proxy.port}/`);
      const opening = watched(PostgresStore.open({ url: through }, { clock }));
      await eventually("the step's end at the database", async () => {
        const { rows } = await other.query<{ state: string }>(
          "SELECT state FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE 'CREATE TABLE records%'",
        );
        return rows[0]?.state === "idle in transaction";
      });
      const begunAt = clock.now();
      await passing("the end of the wait", 1000, () => opening.over);
      expect(String(opening.error)).toMatch(/Connection terminated without a word/);
      expect(isDatabaseAway(opening.error)).toBe(true);
      expect(clock.now() - begunAt).toBeLessThan(600_000);
    });

    it("is not given up while the database works on a step", { timeout: 60_000 }, async () => {
      await open();
      await (await PostgresStore.open({ url }, { clock })).close();
      await other.query(
        `DELETE FROM migrations WHERE step >= 5; DROP TRIGGER records_gone ON records; DROP FUNCTION records_gone();
         DROP INDEX sessions_until; DROP TABLE data_homes`,
      );
      await other.query("BEGIN; LOCK TABLE records IN ACCESS EXCLUSIVE MODE");
      const opening = watched(PostgresStore.open({ url }, { clock }));
      const looking = new pg.Client({ connectionString: url });
      await looking.connect();
      await eventually("a step that waits", async () => {
        const { rows } = await looking.query(
          "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CREATE FUNCTION records_gone%'",
        );
        return rows.length === 1;
      });
      // The looks are the only ones who ask this; each has been answered once its connection is idle again.
      const looks = `SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT state FROM pg_stat_activity%' AND state = 'idle'`;
      for (let look = 0; look < 6; look += 1) {
        await clock.advanceAsync(5000);
        await eventually("an answered look", async () => (await looking.query(looks)).rows.length === 1);
      }
      expect(opening.over).toBe(false);
      await looking.end();
      await other.query("COMMIT");
      await passing("a store", 1000, () => opening.over);
      expect(opening.error).toBeUndefined();
      await opening.value?.close();
    });
  },
);
