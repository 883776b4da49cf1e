import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Drivers } from "../src/driver/made-drivers.js";
import { DEFAULT_BUDGETS } from "../src/gateway/budgets.js";
import type { ServeOptions } from "../src/serve-options.js";
import { serveGateway } from "../src/serve.js";
import { eventually } from "../src/testing/eventually.js";
import type { Storage } from "../src/store/open-store.js";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { StartedGateway } from "../src/testing/started-gateway.js";
import { FakeDriver } from "./fake-driver.js";
import { tempDir } from "./temp-dir.js";

const started: StartedGateway[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((gateway) => gateway.close()));
});

async function start(options: Partial<ServeOptions> & { drivers: Drivers }): Promise<StartedGateway> {
  const gateway = await StartedGateway.start({ dataDir: join(await tempDir(), "data"), ...options });
  started.push(gateway);
  return gateway;
}

const BOX = { name: "box", image: { name: "image" }, command: ["work"] };

describe("a server", () => {
  it("makes its drivers with what they may need, and runs several side by side", async () => {
    const [one, two] = [new FakeDriver(), Object.assign(new FakeDriver(), { name: "other" })];
    const seen: string[] = [];
    const gateway = await start({
      drivers: ({ dataDir, supervisorProgram, clock }) => {
        seen.push(dataDir, supervisorProgram);
        expect(clock.now()).toBeGreaterThan(0);
        return [one, two];
      },
    });
    expect(seen[0]).toMatch(/data$/);
    expect(seen[1]).toMatch(/supervisor\.js$/);
    expect(await gateway.client.create(BOX)).toMatchObject({ driver: "fake" });
    expect(await gateway.client.create({ ...BOX, name: "b", driver: "other" })).toMatchObject({
      driver: "other",
    });
    await eventually("both launches", () =>
      Promise.resolve(one.launches.length === 1 && two.launches.length === 1),
    );
    await gateway.removeAll();
  });

  describe("of drivers that hold something of this process", () => {
    const closed: string[] = [];
    const holder = (name: string, close = () => Promise.resolve()): FakeDriver =>
      Object.assign(new FakeDriver(), {
        name,
        close: () => {
          closed.push(name);
          return close();
        },
      });

    beforeEach(() => void closed.splice(0));

    it("closes those that it made, when it ends and each of them", async () => {
      const failing = holder("one", () => Promise.reject(new Error("stuck")));
      const gateway = await StartedGateway.start({
        drivers: () => [failing, holder("two"), new FakeDriver()],
        dataDir: join(await tempDir(), "data"),
      });
      expect(closed).toEqual([]);
      await expect(gateway.close()).rejects.toThrow("stuck");
      expect(closed).toEqual(["one", "two"]);
    });

    it("closes those that it made where it does not come up, and says why it did not", async () => {
      const dataDir = join(await tempDir(), "data");
      const away = (): Storage => {
        const store = new SqliteStore(join(dataDir, "gateway.db"));
        store.list = () => Promise.reject(new Error("the store is away"));
        return { store, ledger: new SqliteActivationLedger(join(dataDir, "gateway.db")) };
      };
      const failing = holder("one", () => Promise.reject(new Error("stuck")));
      const made = StartedGateway.start({ drivers: () => [failing, holder("two")], dataDir, storage: away });
      await expect(made).rejects.toThrow("the store is away");
      expect(closed).toEqual(["one", "two"]);
      const alike = StartedGateway.start({ drivers: () => [holder("three"), holder("three")], dataDir });
      await expect(alike).rejects.toThrow(/different names/);
      expect(closed).toEqual(["one", "two", "three", "three"]);
    });

    it("leaves those that it was given to whoever made them", async () => {
      const gateway = await StartedGateway.start({
        drivers: [holder("one")],
        dataDir: join(await tempDir(), "data"),
      });
      await gateway.close();
      expect(closed).toEqual([]);
    });
  });

  it("does not begin with a token that is none, as an unset variable leaves it", async () => {
    const drivers = [new FakeDriver()];
    for (const token of ["", " ", "a\nb", " a", "ü"]) {
      await expect(start({ drivers, ownerToken: token })).rejects.toThrow(/ownerToken/);
      await expect(start({ drivers, metricsToken: token })).rejects.toThrow(/metricsToken/);
    }
  });

  it("tells supervisors the address that it was told, with its port", async () => {
    const driver = new FakeDriver();
    const gateway = await start({
      drivers: [driver],
      host: "0.0.0.0",
      supervisorUrl: "http://gateway.example:{port}/",
    });
    const { port } = new URL(gateway.url);
    expect(gateway.url).toBe(`http://127.0.0.1:${port}`);
    await gateway.client.create(BOX);
    const launch = await eventually("a launch", () => Promise.resolve(driver.launches[0]));
    expect(launch.request.access.url).toBe(`http://gateway.example:${port}`);
    await gateway.removeAll();
  });

  it("is not started on what makes no sense, and says which field", async () => {
    const drivers = [new FakeDriver()];
    const cases: [Partial<ServeOptions>, string][] = [
      [{ drivers: [] }, "drivers"],
      [{ drivers: [new FakeDriver(), new FakeDriver()] }, "drivers"],
      [{ supervisorUrl: "gateway" }, "supervisorUrl"],
      [{ databaseUrl: "" }, "databaseUrl"],
      [{ databaseUrl: "nonsense" }, "databaseUrl"],
      [{ databaseUrl: "http://127.0.0.1:9/x" }, "databaseUrl"],
      [{ databaseUrl: "postgres://user:pass/word@127.0.0.1/x" }, "databaseUrl"],
      [{ isolationBackend: "a b" }, "isolationBackend"],
      [{ restartOn: ["MainProcessFailed", "no reason"] }, "restartOn"],
    ];
    for (const [options, field] of cases) {
      const dataDir = join(await tempDir(), "data");
      const made = serveGateway({
        drivers,
        dataDir,
        budgets: DEFAULT_BUDGETS,
        log: () => undefined,
        ...options,
      });
      await expect(made, field).rejects.toMatchObject({ name: "InvalidInputError", field });
      await expect(made, field).rejects.not.toThrow(/pass|word/);
    }
  });
});
