import Database from "libsql";
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InMemoryActivationLedger } from "slipway/testing";
import { afterEach, describe, expect, it } from "vitest";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { activationLedgerConformance } from "./activation-ledger-conformance.js";
import { tempDir } from "./temp-dir.js";

const open: SqliteActivationLedger[] = [];

afterEach(async () => {
  await Promise.allSettled(open.splice(0).map((ledger) => ledger.close()));
});

function openLedger(path: string): SqliteActivationLedger {
  const ledger = new SqliteActivationLedger(path);
  open.push(ledger);
  return ledger;
}

describe("every activation ledger", () => {
  describe.each([
    ["SQLite", () => (path: string) => openLedger(path)],
    [
      "memory",
      () => {
        const shared = new InMemoryActivationLedger();
        return () => shared;
      },
    ],
  ] as const)("%s", (_kind, make) => {
    it.each(activationLedgerConformance.map(({ name, run }) => [name, run] as const))(
      "%s",
      async (_name, run) => {
        const path = join(await tempDir(), "gateway.db");
        const openOne = make();
        await run(() => Promise.resolve(openOne(path)));
      },
    );
  });
});

describe("the SQLite ledger", () => {
  it("lives beside the records in one file, and each keeps its own schema steps", async () => {
    const path = join(await tempDir(), "gateway.db");
    const store = new SqliteStore(path);
    const ledger = openLedger(path);
    await store.insert({ id: "a", name: "a", dueAt: null, value: {} });
    const entry = { state: "active", version: 1, claim: "c", at: 1 } as const;
    await ledger.compareAndSwap("a/i", null, entry);
    expect((await store.get("a"))?.version).toBe(1);
    await store.close();
    await ledger.close();
    expect(await openLedger(path).read("a/i")).toEqual(entry);
  });

  it("lets exactly one of two processes start each of a hundred instances", async () => {
    const dir = await tempDir();
    const path = join(dir, "gateway.db");
    const ledger = openLedger(path);
    const module = new URL("../dist/store/sqlite-activation-ledger.js", import.meta.url).href;
    const retry = new URL("../../../dist/retry/index.js", import.meta.url).href;
    await writeFile(
      join(dir, "child.mjs"),
      `import { appendFileSync } from "node:fs";
       import { SqliteActivationLedger } from ${JSON.stringify(module)};
       import { bootstrapSequence } from ${JSON.stringify(retry)};
       const ledger = new SqliteActivationLedger(${JSON.stringify(path)});
       for (let index = 0; index < 100; index += 1)
         await bootstrapSequence({
           instanceId: "sb/i-" + index, ledger, steps: [],
           activate: () => appendFileSync(${JSON.stringify(join(dir, "started"))}, index + "\\n"),
         });`,
    );
    const children = [fork(join(dir, "child.mjs")), fork(join(dir, "child.mjs"))];
    const exits = await Promise.all(children.map((child) => once(child, "exit")));
    expect(exits.map(([code]) => code as number)).toEqual([0, 0]);
    const started = (await readFile(join(dir, "started"), "utf8")).trim().split("\n").map(Number);
    expect(started.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect((await ledger.read("sb/i-99"))?.state).toBe("active");
  });

  it("forgets a deleted sandbox's instances, and no other's", async () => {
    const ledger = openLedger(join(await tempDir(), "gateway.db"));
    const entry = { state: "active", version: 1, claim: "c", at: 1 } as const;
    for (const id of ["sb-1/i", "sb-1/j", "sb-10/i", "sb-1", "sb-2/i"])
      await ledger.compareAndSwap(id, null, entry);
    await ledger.forget("sb-1");
    const left = await Promise.all(
      ["sb-1/i", "sb-1/j", "sb-10/i", "sb-1", "sb-2/i"].map(async (id) => (await ledger.read(id)) !== null),
    );
    expect(left).toEqual([false, false, true, true, true]);
  });

  it("refuses a file of a newer gateway instead of guessing", async () => {
    const path = join(await tempDir(), "gateway.db");
    await openLedger(path).close();
    const database = new Database(path);
    database.exec("INSERT INTO activation_migrations (step) VALUES (99)");
    database.close();
    expect(() => new SqliteActivationLedger(path)).toThrow("schema version 99, and this gateway knows 1");
  });
});
