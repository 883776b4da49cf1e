import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../src/testing/eventually.js";
import { activationLedgerConformance } from "./activation-ledger-conformance.js";
import { because, missing, PostgresBench } from "./postgres-bench.js";
import type { PostgresServer } from "./postgres-server.js";
import { claimConformance, recordStoreConformance } from "./record-store-conformance.js";

const postgres = new PostgresBench();
let server: PostgresServer | null = null;

beforeAll(async () => {
  server = await postgres.start();
}, 120_000);

afterEach(() => postgres.closeOpened());

afterAll(() => postgres.dispose());

const freshUrl = () => postgres.freshUrl();
const openStore = (url: string) => postgres.openStore(url);

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

describe.skipIf(missing !== null)(`the PostgreSQL store${because()}`, () => {
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

  it("knows what time it has", async () => {
    const store = await openStore(await freshUrl());
    expect(Math.abs((await store.now()) - Date.now())).toBeLessThan(60_000);
  });
});
