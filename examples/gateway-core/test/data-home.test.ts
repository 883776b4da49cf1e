import { randomUUID } from "node:crypto";
import { readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { DEFAULT_BUDGETS } from "../src/gateway/budgets.js";
import { serveGateway } from "../src/serve.js";
import { bindToData, OtherDataError, type ClaimHome } from "../src/store/data-home.js";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { FakeDriver } from "./fake-driver.js";
import { tempDir } from "./temp-dir.js";

/** A database as several gateways have it. */
function shared(): ClaimHome {
  const homes = new Map<string, string>();
  return (driver, home) => {
    if (!homes.has(driver)) homes.set(driver, home);
    return Promise.resolve(homes.get(driver) ?? "");
  };
}

const local = (name = "local") => Object.assign(new FakeDriver(), { name, findsByData: true });

describe("the data directory by which sandboxes are found", () => {
  it("is one for all gateways of a store, wherever it is moved to, and another one is refused with what to do", async () => {
    const claim = shared();
    const [mine, other] = [await tempDir(), await tempDir()];
    await bindToData([local()], mine, claim);
    await bindToData([local()], mine, claim);
    const moved = join(await tempDir(), "moved");
    await rename(mine, moved);
    await bindToData([local()], moved, claim);
    const refused = bindToData([local()], other, claim);
    await expect(refused).rejects.toThrow(OtherDataError);
    await expect(refused).rejects.toThrow(/DELETE FROM data_homes WHERE driver = 'local'/);
    // Each driver has its own.
    await bindToData([local("another")], other, claim);
  });

  it("has one name, also when gateways make it at once, and nothing half written is left", async () => {
    const dir = await tempDir();
    const claim = shared();
    await Promise.all(Array.from({ length: 20 }, () => bindToData([local()], dir, claim)));
    expect(await readdir(dir)).toEqual(["data-id"]);
    expect(await readFile(join(dir, "data-id"), "utf8")).toMatch(/^[0-9a-f-]{36}\n$/);
  });

  it("is no matter to a driver whose backend knows what runs", async () => {
    const claim = shared();
    const dir = await tempDir();
    await bindToData([new FakeDriver()], dir, claim);
    await bindToData([new FakeDriver()], await tempDir(), claim);
    expect(await readdir(dir)).toEqual([]);
  });

  it("keeps a gateway from beginning, which then holds nothing open", async () => {
    const dataDir = await tempDir();
    const path = join(await tempDir(), "store.db");
    const [store, ledger] = [new SqliteStore(path), new SqliteActivationLedger(path)];
    const closed = [vi.spyOn(store, "close"), vi.spyOn(ledger, "close")];
    const storage = { store, ledger, claimHome: () => Promise.resolve(randomUUID()) };
    const serving = serveGateway({
      ...{ dataDir, drivers: [local()], budgets: DEFAULT_BUDGETS, log: () => undefined },
      storage: () => storage,
    });
    await expect(serving).rejects.toThrow(OtherDataError);
    for (const close of closed) expect(close).toHaveBeenCalledOnce();
    expect((await readdir(dataDir)).sort()).toEqual(["data-id"]);
  });
});
