import Database from "libsql";
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { RecordStore } from "../src/store/record-store.js";
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
