import Database from "libsql";
import { join } from "node:path";
import { VirtualClock } from "slipway/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openStorage, openStore } from "../src/store/open-store.js";
import { PostgresStore } from "../src/store/postgres/postgres-store.js";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { tempDir } from "./temp-dir.js";

afterEach(() => vi.restoreAllMocks());

const log = (): void => undefined;
const clock = new VirtualClock();

/** A file whose list of steps a newer gateway has gone on with. */
async function newerFile(table: string): Promise<string> {
  const dataDir = await tempDir();
  const database = new Database(join(dataDir, "gateway.db"));
  database.exec(
    `CREATE TABLE ${table} (step INTEGER PRIMARY KEY NOT NULL); INSERT INTO ${table} VALUES (99)`,
  );
  database.close();
  return dataDir;
}

describe("a store that cannot be opened", () => {
  it("is closed with its ledger where the file is of a newer gateway", async () => {
    const closed = [SqliteStore, SqliteActivationLedger].map(({ prototype }) => vi.spyOn(prototype, "close"));
    const dataDir = await newerFile("belongings_migrations");
    await expect(openStore({ dataDir, clock, log })).rejects.toThrow("use a newer gateway");
    for (const close of closed) expect(close).toHaveBeenCalledOnce();
  });

  it("is closed where its ledger cannot be opened", async () => {
    const close = vi.spyOn(SqliteStore.prototype, "close");
    const dataDir = await newerFile("activation_migrations");
    await expect(openStore({ dataDir, clock, log })).rejects.toThrow("use a newer gateway");
    expect(close).toHaveBeenCalledOnce();
  });

  it("is closed where a database does not tell the time", async () => {
    const close = vi.fn(() => Promise.resolve());
    const store = { now: () => Promise.reject(new Error("no time")), close };
    vi.spyOn(PostgresStore, "open").mockResolvedValue(store as unknown as PostgresStore);
    const opening = openStore({ dataDir: await tempDir(), databaseUrl: "postgres://nowhere", clock, log });
    await expect(opening).rejects.toThrow("no time");
    expect(close).toHaveBeenCalledOnce();
  });
});

describe("storage that was made elsewhere", () => {
  it.each([true, undefined])("says whether it tells of writes: %s", async (tellsOfWrites) => {
    const path = join(await tempDir(), "store.db");
    const storage = { store: new SqliteStore(path), ledger: new SqliteActivationLedger(path), tellsOfWrites };
    await using opened = await openStorage(storage, clock, log);
    expect(opened.tellsOfWrites).toBe(tellsOfWrites);
  });
});
