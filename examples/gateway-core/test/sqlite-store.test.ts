import Database from "libsql";
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { RecordStore } from "../src/store/record-store.js";
import { VirtualClock } from "slipway/testing";
import { openStore as openGatewayStore } from "../src/store/open-store.js";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { REMOVE_LEFT } from "../src/store/sqlite-belongings.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { claimConformance, recordStoreConformance } from "./record-store-conformance.js";
import { tempDir } from "./temp-dir.js";

const open: RecordStore[] = [];

afterEach(async () => {
  await Promise.allSettled(open.splice(0).map((store) => store.close()));
});

function openStore(path: string): Promise<RecordStore> {
  const store = new SqliteStore(path);
  open.push(store);
  return Promise.resolve(store);
}

describe("the SQLite store does what every record store must", () => {
  for (const { name, run } of [...recordStoreConformance, ...claimConformance]) {
    it(name, async () => {
      const path = join(await tempDir(), "store.db");
      await run(() => openStore(path));
    });
  }
});

describe("the SQLite store", () => {
  it("loses no update between two processes", async () => {
    const dir = await tempDir();
    const path = join(dir, "store.db");
    const store = await openStore(path);
    await store.insert({ id: "a", name: "a", dueAt: null, value: { count: 0 } });
    const module = new URL("../dist/store/sqlite-store.js", import.meta.url).href;
    await writeFile(
      join(dir, "child.mjs"),
      `import { SqliteStore } from ${JSON.stringify(module)};
       const store = new SqliteStore(${JSON.stringify(path)});
       for (let done = 0; done < 100; ) {
         const found = await store.get("a");
         const value = { count: found.value.count + 1 };
         if (await store.compareAndSwap("a", found.version, { dueAt: null, value })) done += 1;
       }`,
    );
    const children = [fork(join(dir, "child.mjs")), fork(join(dir, "child.mjs"))];
    const exits = await Promise.all(children.map((child) => once(child, "exit")));
    expect(exits.map(([code]) => code as number)).toEqual([0, 0]);
    expect((await store.get("a"))?.value).toEqual({ count: 200 });
  });

  it("refuses a file of a newer gateway instead of guessing", async () => {
    const path = join(await tempDir(), "store.db");
    await (await openStore(path)).close();
    const database = new Database(path);
    database.exec("INSERT INTO migrations (step) VALUES (99)");
    database.close();
    expect(() => new SqliteStore(path)).toThrow("schema version 99");
  });

  it("refuses a file that is no database", async () => {
    const path = join(await tempDir(), "store.db");
    await writeFile(path, "this is not a database, only text that is long enough to look at".repeat(20));
    expect(() => new SqliteStore(path)).toThrow(/not a database/);
  });
});

describe("the SQLite file of a gateway", () => {
  const entry = { state: "active", version: 1, claim: "c", at: 1 } as const;

  it("loses with a record what belongs to it, also what an earlier gateway left", async () => {
    const dataDir = await tempDir();
    const path = join(dataDir, "gateway.db");
    const before = { store: new SqliteStore(path), ledger: new SqliteActivationLedger(path) };
    for (const id of ["sb-1", "sb-10"]) {
      await before.store.insert({ id, name: id, dueAt: null, value: {} });
      await before.ledger.compareAndSwap(`${id}/r1`, null, entry);
    }
    await before.ledger.compareAndSwap("sb-2/r1", null, entry);
    await before.store.close();
    await before.ledger.close();
    const opened = await openGatewayStore({ dataDir, clock: new VirtualClock(), log: () => undefined });
    const { store, ledger } = opened;
    expect(await ledger.read("sb-2/r1")).toBeNull();
    await store.delete("sb-1", 7);
    expect(await ledger.read("sb-1/r1")).toEqual(entry);
    await store.delete("sb-1", 1);
    expect(await ledger.read("sb-1/r1")).toBeNull();
    expect(await ledger.read("sb-10/r1")).toEqual(entry);
    await opened[Symbol.asyncDispose]();
  });

  it("looks the record of each entry up by its id when it removes what was left", async () => {
    const path = join(await tempDir(), "gateway.db");
    const store = new SqliteStore(path);
    const ledger = new SqliteActivationLedger(path);
    const database = new Database(path);
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${REMOVE_LEFT}`).all() as { detail: string }[];
    const ofRecords = plan.map(({ detail }) => detail).filter((detail) => detail.includes("records"));
    expect(ofRecords).toEqual([expect.stringMatching(/^SEARCH records .*\(id=\?\)/)]);
    database.close();
    await ledger.close();
    await store.close();
  });

  it("tells within a second that another gateway wrote, and nothing when none did", async () => {
    const dataDir = await tempDir();
    const clock = new VirtualClock();
    const told: number[] = [];
    const opened = await openGatewayStore({ dataDir, clock, log: () => undefined });
    const settle = async (): Promise<void> => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    opened.follow({
      noticeChange: () => Promise.resolve(),
      noticeGap: () => undefined,
      noticeWrites: () => void told.push(clock.now()),
    });
    await settle();
    const start = clock.now();
    await opened.store.insert({ id: "own", name: "own", dueAt: null, value: {} });
    for (let second = 0; second < 5; second += 1) {
      await clock.advanceAsync(1000);
      await settle();
    }
    expect(told).toEqual([]);
    const other = new SqliteStore(join(dataDir, "gateway.db"));
    await other.insert({ id: "other", name: "other", dueAt: null, value: {} });
    for (let second = 0; second < 5; second += 1) {
      await clock.advanceAsync(1000);
      await settle();
    }
    expect(told).toEqual([start + 6000]);
    await other.close();
    await opened[Symbol.asyncDispose]();
  });
});
