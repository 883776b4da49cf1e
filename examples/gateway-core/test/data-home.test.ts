import { randomUUID } from "node:crypto";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { DEFAULT_BUDGETS } from "../src/gateway/budgets.js";
import { serveGateway } from "../src/serve.js";
import type { Driver } from "../src/driver/driver.js";
import { bindToData, NewDataError, OtherDataError, type DataHomes } from "../src/store/data-home.js";
import type { RecordStore } from "../src/store/record-store.js";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { FakeDriver } from "./fake-driver.js";
import { tempDir } from "./temp-dir.js";

/** A database as several gateways have it. */
function shared(): DataHomes {
  const homes = new Map<string, string>();
  return {
    noted: (driver) => Promise.resolve(homes.get(driver) ?? null),
    claim(driver, home) {
      if (!homes.has(driver)) homes.set(driver, home);
      return Promise.resolve(homes.get(driver) ?? "");
    },
  };
}

/** Records of sandboxes, one of each of these drivers, and more than a page of another one's. */
function recordsOf(...drivers: readonly string[]): RecordStore["list"] {
  const all = [...Array.from({ length: 250 }, () => "elsewhere"), ...drivers];
  return ({ after = "0", limit }) => {
    const [from, until] = [Number(after), Number(after) + limit];
    const items = all.slice(from, until).map((driver, index) => ({
      ...{ id: String(from + index), name: "box", version: 1, dueAt: null },
      value: { spec: { driver } },
    }));
    return Promise.resolve({ items, next: until < all.length ? String(until) : null });
  };
}

/** As a gateway begins, with a directory that is new to gateways unless said otherwise. */
async function begin(
  driver: Driver,
  dataDir: string,
  homes: DataHomes,
  { wasServed = false, records = recordsOf() } = {},
): Promise<void> {
  await bindToData([driver], { dataDir, wasServed }, homes, { list: records });
}

const local = (name = "local") => Object.assign(new FakeDriver(), { name, findsByData: true });

describe("the data directory by which sandboxes are found", () => {
  it("is one for all gateways of a store, wherever it is moved to, and another one is refused with what to do", async () => {
    const claim = shared();
    const [mine, other] = [await tempDir(), await tempDir()];
    await begin(local(), mine, claim);
    await begin(local(), mine, claim);
    const moved = join(await tempDir(), "moved");
    await rename(mine, moved);
    await begin(local(), moved, claim);
    const refused = begin(local(), other, claim);
    await expect(refused).rejects.toThrow(OtherDataError);
    await expect(refused).rejects.toThrow(/DELETE FROM data_homes WHERE driver = 'local'/);
    // Each driver has its own.
    await begin(local("another"), other, claim);
  });

  it("has one name, also when gateways make it at once, and nothing half written is left", async () => {
    const dir = await tempDir();
    const claim = shared();
    await Promise.all(Array.from({ length: 20 }, () => begin(local(), dir, claim)));
    expect(await readdir(dir)).toEqual(["data-id"]);
    expect(await readFile(join(dir, "data-id"), "utf8")).toMatch(/^[0-9a-f-]{36}\n$/);
  });

  it("is no matter to a driver whose backend knows what runs", async () => {
    const claim = shared();
    const dir = await tempDir();
    await begin(new FakeDriver(), dir, claim);
    await begin(new FakeDriver(), await tempDir(), claim);
    expect(await readdir(dir)).toEqual([]);
  });

  it("is none that no gateway was served with, where there are sandboxes and nothing says of which directory", async () => {
    const claim = shared();
    const [old, fresh] = [await tempDir(), await tempDir()];
    const upgraded = { records: recordsOf("local") };
    for (let tries = 0; tries < 2; tries += 1)
      await expect(begin(local(), fresh, claim, upgraded)).rejects.toThrow(NewDataError);
    expect(await readdir(fresh)).toEqual([]);
    // Nobody else's sandboxes are in the way.
    await begin(local("another"), fresh, claim, upgraded);
    await begin(local(), old, claim, { ...upgraded, wasServed: true });
    await expect(begin(local(), fresh, claim, upgraded)).rejects.toThrow(OtherDataError);
  });

  it("is one that somebody has named, where that of the sandboxes is lost", async () => {
    const claim = shared();
    const [lost, fresh] = [await tempDir(), await tempDir()];
    const records = recordsOf("local");
    await writeFile(join(fresh, "data-id"), "a-name-of-mine\n");
    await begin(local(), fresh, claim, { records });
    expect(await claim.noted("local")).toBe("a-name-of-mine");
    await expect(begin(local(), lost, claim, { records, wasServed: true })).rejects.toThrow(OtherDataError);
  });

  it("is none whose name is empty", async () => {
    const dir = await tempDir();
    await writeFile(join(dir, "data-id"), "\n");
    const claim = shared();
    await expect(begin(local(), dir, claim)).rejects.toThrow(/data-id is empty: write the name/);
    expect(await claim.noted("local")).toBeNull();
  });

  it("keeps a gateway from beginning, which then holds nothing open", async () => {
    const dataDir = await tempDir();
    const path = join(await tempDir(), "store.db");
    const [store, ledger] = [new SqliteStore(path), new SqliteActivationLedger(path)];
    const closed = [vi.spyOn(store, "close"), vi.spyOn(ledger, "close")];
    const none = () => Promise.resolve(null);
    const storage = { store, ledger, dataHomes: { noted: none, claim: () => Promise.resolve(randomUUID()) } };
    const serving = serveGateway({
      ...{ dataDir, drivers: [local()], budgets: DEFAULT_BUDGETS, log: () => undefined },
      storage: () => storage,
    });
    await expect(serving).rejects.toThrow(OtherDataError);
    for (const close of closed) expect(close).toHaveBeenCalledOnce();
    expect((await readdir(dataDir)).sort()).toEqual(["data-id"]);
  });
});
