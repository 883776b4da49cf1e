import { systemClock } from "slipway";
import pg from "pg";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { serveGateway } from "../src/serve.js";
import { DEFAULT_BUDGETS } from "../src/gateway/budgets.js";
import { processDrivers } from "../src/driver/process-drivers.js";
import { ChangeFeed } from "../src/store/postgres/change-feed.js";
import { NewDataError, OtherDataError } from "../src/store/data-home.js";
import { PostgresStore } from "../src/store/postgres/postgres-store.js";
import { eventually } from "../src/testing/eventually.js";
import { activationLedgerConformance } from "./activation-ledger-conformance.js";
import { findPostgres, freePort, PostgresServer } from "./postgres-server.js";
import { claimConformance, recordStoreConformance } from "./record-store-conformance.js";
import { tempDir } from "./temp-dir.js";

const found = findPostgres();
const missing = "missing" in found ? found.missing : null;
let server: PostgresServer | null = null;
const open: AsyncDisposable[] = [];

beforeAll(async () => {
  if ("bin" in found) server = await PostgresServer.start(found.bin);
}, 120_000);

afterEach(async () => {
  await Promise.allSettled(open.splice(0).map((one) => one[Symbol.asyncDispose]()));
});

afterAll(async () => {
  await server?.dispose();
});

async function freshUrl(): Promise<string> {
  if (server === null) throw new Error("no server");
  return server.url(await server.createDatabase());
}

async function openStore(url: string): Promise<PostgresStore> {
  const store = await PostgresStore.open({ url, connections: 2 });
  open.push({ [Symbol.asyncDispose]: () => store.close() });
  return store;
}

describe.skipIf(missing !== null)(
  `the PostgreSQL store does what every record store must${because()}`,
  () => {
    for (const { name, run } of [...recordStoreConformance, ...claimConformance]) {
      it(name, async () => {
        const url = await freshUrl();
        await run(() => openStore(url));
      });
    }
  },
);

describe.skipIf(missing !== null)(
  `the PostgreSQL ledger does what every activation ledger must${because()}`,
  () => {
    for (const { name, run } of activationLedgerConformance) {
      it(name, async () => {
        const url = await freshUrl();
        await run(async () => (await openStore(url)).ledger);
      });
    }

    it("forgets a sandbox's entries and nobody else's", async () => {
      const { ledger } = await openStore(await freshUrl());
      const entry = { state: "active", version: 1, claim: "c", at: 1 } as const;
      for (const id of ["sb-1/r1", "sb-1/r2", "sb-10/r1", "sb-0/r1"])
        await ledger.compareAndSwap(id, null, entry);
      await ledger.forget("sb-1");
      const left = await Promise.all(
        ["sb-1/r1", "sb-1/r2", "sb-10/r1", "sb-0/r1"].map((id) => ledger.read(id)),
      );
      expect(left).toEqual([null, null, entry, entry]);
    });
  },
);

describe.skipIf(missing !== null)(`a gateway on PostgreSQL${because()}`, () => {
  it("that cannot read its records does not start, and keeps no address from one that can", async () => {
    if (server === null) return;
    const url = await freshUrl();
    await openStore(url);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("ALTER TABLE records RENAME TO elsewhere");
    const dataDir = await tempDir();
    const options = { drivers: processDrivers, dataDir, databaseUrl: url, budgets: DEFAULT_BUDGETS };
    const serving = { ...options, port: await freePort(), log: () => undefined };
    await expect(serveGateway(serving)).rejects.toThrow('"records" does not exist');
    await client.query("ALTER TABLE elsewhere RENAME TO records");
    await client.end();
    const running = await serveGateway(serving);
    expect((await fetch(`${running.url}/healthz`)).ok).toBe(true);
    await running.close();
  });
});

describe.skipIf(missing !== null)(`gateways that share a folder and a database${because()}`, () => {
  it("start at once", async () => {
    if (server === null) return;
    const databaseUrl = await freshUrl();
    const shared = {
      drivers: processDrivers,
      dataDir: await tempDir(),
      databaseUrl,
      budgets: DEFAULT_BUDGETS,
    };
    const serving = Array.from({ length: 6 }, () =>
      serveGateway({ ...shared, port: 0, log: () => undefined }),
    );
    const started = await Promise.allSettled(serving);
    for (const result of started) if (result.status === "fulfilled") await result.value.close();
    expect(started.map(({ status }) => status)).toEqual(started.map(() => "fulfilled"));
  });

  it("do not begin with another data directory than the one that their sandboxes are in", async () => {
    if (server === null) return;
    const databaseUrl = await freshUrl();
    const shared = { drivers: processDrivers, databaseUrl, budgets: DEFAULT_BUDGETS, log: () => undefined };
    const dirs = [await tempDir(), await tempDir(), await tempDir()];
    const starting = dirs.map((dataDir) => serveGateway({ ...shared, dataDir, port: 0 }));
    const started = await Promise.allSettled(starting);
    const winner = started.findIndex(({ status }) => status === "fulfilled");
    for (const result of started) {
      if (result.status === "fulfilled") await result.value.close();
      else expect(result.reason).toBeInstanceOf(OtherDataError);
    }
    expect(started.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const again = await serveGateway({ ...shared, dataDir: dirs[winner] ?? "", port: 0 });
    const spec = { driver: "process", image: { name: "image", path: dirs[winner] }, command: ["work"] };
    const request = {
      name: "box",
      spec: { ...spec, driverOptions: {}, budgets: {} },
      policy: { version: 1 },
    };
    const { record } = await again.gateway.create(request);
    await again.gateway.stopSandbox(record.id);
    await again.close();
    // As an upgrade finds it: there are sandboxes, and nothing says by which directory they are found.
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query("DELETE FROM data_homes");
    await client.end();
    const fresh = serveGateway({ ...shared, dataDir: await tempDir(), port: 0 });
    await expect(fresh).rejects.toThrow(NewDataError);
    await rm(join(dirs[winner] ?? "", "data-id"));
    await (await serveGateway({ ...shared, dataDir: dirs[winner] ?? "", port: 0 })).close();
  });
});

describe.skipIf(missing !== null)(`the PostgreSQL store${because()}`, () => {
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

  it("hands what is due to many claimers without overlap, and without one waiting for another", async () => {
    const url = await freshUrl();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(url)));
    for (let index = 0; index < 40; index += 1) {
      const id = `id-${String(index).padStart(2, "0")}`;
      await stores[0]?.insert({ id, name: id, dueAt: index, value: {} });
    }
    const claims = await Promise.all(
      stores.flatMap((store, owner) =>
        [0, 1].map(() => store.claimDue({ now: 100, limit: 5, owner: `gateway-${owner}`, until: 200 })),
      ),
    );
    const byOwner = claims.map(
      (records, index) => [Math.floor(index / 2), records.map(({ id }) => id)] as const,
    );
    const owners = new Map<string, number>();
    for (const [owner, ids] of byOwner) {
      for (const id of ids) {
        expect(owners.get(id) ?? owner).toBe(owner);
        owners.set(id, owner);
      }
    }
  });

  it("is found again after the database was restarted, and an acknowledged write with it", async () => {
    if (server === null) return;
    const url = await freshUrl();
    const store = await openStore(url);
    await store.insert({ id: "a", name: "a", dueAt: null, value: { kept: true } });
    await server.down("immediate");
    await expect(store.get("a")).rejects.toThrow();
    await server.up();
    const found = await eventually("the record", () => store.get("a").catch(() => null));
    expect(found.value).toEqual({ kept: true });
  });

  it("tells of every write, of none that only claims, and of the gap after a break", async () => {
    if (server === null) return;
    const url = await freshUrl();
    const store = await openStore(url);
    const heard: string[] = [];
    const hearing = (last: string) =>
      eventually(`news of ${last}`, () => Promise.resolve(heard.at(-1) === last));
    let gaps = 0;
    const feed = new ChangeFeed({
      database: { url },
      clock: systemClock,
      onChange: ({ id, version }) => heard.push(`${id} ${version}`),
      onGap: () => (gaps += 1),
    });
    open.push(feed);
    await eventually("the first gap", () => Promise.resolve(gaps === 1));
    await store.insert({ id: "a", name: "a", dueAt: 1, value: {} });
    await hearing("a 1");
    await store.claimDue({ now: 5, limit: 9, owner: "me", until: 9 });
    await store.compareAndSwap("a", 1, { dueAt: null, value: {} });
    await hearing("a 2");
    await store.compareAndSwap("a", 1, { dueAt: null, value: { lost: true } });
    await store.delete("a", 2);
    await hearing("a 3");
    await store.delete("a", 2);
    await store.insert({ id: "an end", name: "end", dueAt: null, value: {} });
    await hearing("an end 1");
    expect(heard).toEqual(["a 1", "a 2", "a 3", "an end 1"]);
    // Many at once are told together, the latest of each.
    const many = Array.from({ length: 50 }, (_, index) => `many-${index}`);
    await Promise.all(many.map((id) => store.insert({ id, name: id, dueAt: null, value: {} })));
    await eventually("all of them", () => Promise.resolve(many.every((id) => heard.includes(`${id} 1`))));
    await server.down("immediate");
    await server.up();
    await eventually("the gap after the break", () => Promise.resolve(gaps === 2));
    await store.insert({ id: "b", name: "b", dueAt: null, value: {} });
    await hearing("b 1");
  });

  const session = (id: string, until: number) => ({ id, instanceId: `${id}-r1`, owner: "me", until });
  const entry = { state: "active", version: 1, claim: "c", at: 1 } as const;

  it("removes with a record what belongs to it, and keeps no session of one that is gone", async () => {
    const store = await openStore(await freshUrl());
    for (const id of ["sb-1", "sb-10"]) {
      await store.insert({ id, name: id, dueAt: null, value: {} });
      await store.ledger.compareAndSwap(`${id}/r1`, null, entry);
    }
    await store.sessions.keepSessions([session("sb-1", 100), session("sb-10", 100), session("sb-2", 100)]);
    expect((await store.sessions.liveSessions(0)).map(({ id }) => id).sort()).toEqual(["sb-1", "sb-10"]);
    await store.delete("sb-1", 7);
    expect(await store.ledger.read("sb-1/r1")).toEqual(entry);
    await store.delete("sb-1", 1);
    expect(await store.sessions.liveSessions(0)).toEqual([session("sb-10", 100)]);
    expect(await store.ledger.read("sb-1/r1")).toBeNull();
    expect(await store.ledger.read("sb-10/r1")).toEqual(entry);
    await store.sessions.sweepSessions(100);
    expect(await store.sessions.liveSessions(0)).toHaveLength(1);
    await store.sessions.sweepSessions(101);
    expect(await store.sessions.liveSessions(0)).toEqual([]);
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

  it("notes the first name of a data directory, and takes nothing for noted that is not", async () => {
    const url = await freshUrl();
    const { dataHomes } = await openStore(url);
    expect(await dataHomes.noted("local")).toBeNull();
    const claims = ["a", "b", "c"].map((home) => dataHomes.claim("local", home));
    const [first, ...others] = await Promise.all(claims);
    expect(others).toEqual([first, first]);
    expect(await dataHomes.noted("local")).toBe(first);
    expect(await dataHomes.claim("it's", "d")).toBe("d");
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // The row is not there when the answer is made.
    await client.query(
      `CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
       CREATE TRIGGER nothing BEFORE INSERT ON data_homes FOR EACH ROW EXECUTE FUNCTION nothing()`,
    );
    await client.end();
    await expect(dataHomes.claim("other", "e")).rejects.toThrow(/did not take the name/);
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

  it("tells of a write whose outcome nobody knows", async () => {
    const url = await freshUrl();
    const store = await openStore(url);
    await store.insert({ id: "a", name: "a", dueAt: null, value: {} });
    const heard: string[] = [];
    const feed = new ChangeFeed({
      database: { url },
      clock: systemClock,
      onChange: ({ id, version }) => heard.push(`${id} ${version}`),
      onGap: () => heard.push("gap"),
    });
    open.push(feed);
    await eventually("the feed", () => Promise.resolve(heard.includes("gap")));
    // The write is done, and its connection breaks before anybody hears so.
    const { query } = pg.Pool.prototype;
    let broken = 0;
    pg.Pool.prototype.query = async function (this: pg.Pool, ...args: [string, unknown[]]) {
      const result = await (query as (...given: unknown[]) => Promise<unknown>).apply(this, args);
      broken += 1;
      // The write, and the first try to tell of it.
      if (broken <= 2) throw new Error("Connection terminated unexpectedly");
      return result;
    } as unknown as typeof query;
    try {
      await expect(store.compareAndSwap("a", 1, { dueAt: null, value: { done: true } })).rejects.toThrow(
        "terminated",
      );
      await eventually("news of it", () => Promise.resolve(heard.includes("a 2")));
    } finally {
      pg.Pool.prototype.query = query;
    }
    expect(await store.get("a")).toMatchObject({ version: 2, value: { done: true } });
  });

  it("knows what time it has", async () => {
    const store = await openStore(await freshUrl());
    expect(Math.abs((await store.now()) - Date.now())).toBeLessThan(60_000);
  });
});

function because(): string {
  return missing === null ? "" : ` (skipped: ${missing})`;
}
