import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PostgresStore } from "../src/store/postgres/postgres-store.js";
import { eventually } from "../src/testing/eventually.js";
import { because, missing, PostgresBench } from "./postgres-bench.js";

const postgres = new PostgresBench();

beforeAll(() => postgres.start(), 120_000);

afterEach(() => postgres.closeOpened());

afterAll(() => postgres.dispose());

const freshUrl = () => postgres.freshUrl();
const openStore = (url: string) => postgres.openStore(url);

describe.skipIf(missing !== null)(`the PostgreSQL store${because()}`, () => {
  const session = (id: string, until: number) => ({ id, instanceId: `${id}-r1`, owner: "me", until });
  const entry = { state: "active", version: 1, claim: "c", at: 1 } as const;

  it("is migrated once by any number of gateways that open it at once", async () => {
    const url = await freshUrl();
    const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(url)));
    expect(await Promise.all(stores.map((store) => store.list({ limit: 1 })))).toEqual(
      stores.map(() => ({ items: [], next: null })),
    );
  });

  it("refuses a schema of a newer gateway instead of guessing", async () => {
    const url = await freshUrl();
    await openStore(url);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("INSERT INTO migrations (step) VALUES (99)");
    await client.end();
    await expect(openStore(url)).rejects.toThrow("schema version 99");
  });

  it("that an earlier gateway wrote loses what was left of records that are gone", async () => {
    const url = await freshUrl();
    const store = await openStore(url);
    await store.insert({ id: "sb-1", name: "one", dueAt: null, value: {} });
    await store.sessions.keepSessions([session("sb-1", 100)]);
    await store.ledger.compareAndSwap("sb-1/r1", null, entry);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // As the schema was before.
    await client.query(
      `DROP TRIGGER records_gone ON records; DROP FUNCTION records_gone(); DROP INDEX sessions_until;
       DROP TABLE data_homes;
       DELETE FROM migrations WHERE step >= 5;
       INSERT INTO sessions (id, instance_id, owner, until) VALUES ('sb-2', 'r1', 'me', 100);
       INSERT INTO activations (instance_id, version, entry) VALUES ('sb-2/r1', 1, '{}')`,
    );
    await client.end();
    const after = await openStore(url);
    expect(await after.sessions.liveSessions(0)).toEqual([session("sb-1", 100)]);
    expect(await after.ledger.read("sb-2/r1")).toBeNull();
    expect(await after.ledger.read("sb-1/r1")).toEqual(entry);
  });

  it("waits for another gateway's migration for longer than for any other answer", async () => {
    const url = await freshUrl();
    await openStore(url);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("BEGIN; SELECT pg_advisory_xact_lock(4711550300)");
    // What it looks at would stay the same within a transaction.
    const looking = new pg.Client({ connectionString: url });
    await looking.connect();
    const opening = PostgresStore.open({ url, timeoutMs: 200 });
    let over = false;
    const ended = opening.then(
      () => (over = true),
      () => (over = true),
    );
    await eventually("a wait that is longer", async () => {
      const { rows } = await looking.query<{ waits: boolean }>(
        `SELECT clock_timestamp() - xact_start > interval '1 second' AS waits FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE 'SELECT pg_try_advisory%' AND pid <> pg_backend_pid()`,
      );
      return over || rows[0]?.waits;
    });
    expect(over).toBe(false);
    await client.query("COMMIT");
    await client.end();
    await looking.end();
    await ended;
    await (await opening).close();
  });
});
