import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { GatewayClient } from "../src/client/gateway-client.js";
import { DEFAULT_BUDGETS } from "../src/gateway/budgets.js";
import type { ServeOptions } from "../src/serve-options.js";
import { serveGateway, type RunningGateway } from "../src/serve.js";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { StoreAwayError } from "../src/store/store-away.js";
import { eventually } from "../src/testing/eventually.js";
import { FakeDriver } from "./fake-driver.js";
import { tempDir } from "./temp-dir.js";

/** A port of this machine that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    return await once(socket, "connect").then(
      () => true,
      () => false,
    );
  } finally {
    socket.destroy();
  }
}

/** A file whose end is seen, and whose reading a test may break. */
class WatchedStore extends SqliteStore {
  closed = 0;

  override close(): Promise<void> {
    this.closed += 1;
    return super.close();
  }
}

describe("a start that fails", () => {
  let driver: FakeDriver;
  let dataDir: string;
  let port: number;
  let store: WatchedStore;

  beforeEach(async () => {
    driver = new FakeDriver();
    dataDir = join(await tempDir(), "data");
    port = await freePort();
  });

  const start = (options: Partial<ServeOptions> = {}): Promise<RunningGateway> =>
    serveGateway({
      drivers: [driver],
      dataDir,
      port,
      budgets: DEFAULT_BUDGETS,
      log: () => undefined,
      storage: ({ dataDir: dir }) => {
        const path = join(dir, "gateway.db");
        store = new WatchedStore(path);
        return { store, ledger: new SqliteActivationLedger(path) };
      },
      ...options,
    });

  it("begins nothing when nobody waits for it any more as the store answers", async () => {
    const givenUp = new Error("given up");
    const result = start({
      managesLifecycle: true,
      onAnswer: () => {
        throw givenUp;
      },
    });
    await expect(result).rejects.toBe(givenUp);
    expect([store.closed, driver.calls, await isListening(port)]).toEqual([1, [], false]);
  });

  it("says of a store that it is away where its own rule has it, and only then", async () => {
    const failure = Object.assign(new Error("not yet"), { code: "OWN" });
    const storage = (): never => {
      throw failure;
    };
    const away = start({ storage, isStorageAway: (error) => error === failure });
    await expect(away).rejects.toMatchObject({ name: "StoreAwayError", message: "not yet", cause: failure });
    await expect(start({ storage })).rejects.toBe(failure);
    await expect(start({ storage, isStorageAway: () => false })).rejects.toBe(failure);
  });

  it("says of a store that it is away where it is while it is read", async () => {
    const failure = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    const storage: ServeOptions["storage"] = ({ dataDir: dir }) => {
      const path = join(dir, "gateway.db");
      store = new WatchedStore(path);
      store.list = () => Promise.reject(failure);
      return { store, ledger: new SqliteActivationLedger(path) };
    };
    await expect(start({ storage })).rejects.toBeInstanceOf(StoreAwayError);
    expect([store.closed, await isListening(port)]).toEqual([1, false]);
  });

  it("has taken nothing up of what it read", async () => {
    const first = await start();
    const box = { name: "box", image: { name: "image" }, command: ["work"] };
    const made = await new GatewayClient({ url: first.url }).create(box);
    await eventually("a launch", () => Promise.resolve(driver.launches[0]));
    await first.close();
    driver.calls.length = 0;
    driver.launches.length = 0;
    const storage: ServeOptions["storage"] = ({ dataDir: dir }) => {
      const path = join(dir, "gateway.db");
      store = new WatchedStore(path);
      const list = store.list.bind(store);
      store.list = async ({ after, limit }) => {
        const page = await list({ after, limit });
        if (after === undefined) return { ...page, next: made.id };
        // Long enough for a worker that was woken by the first page to call the driver.
        for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
      };
      return { store, ledger: new SqliteActivationLedger(path) };
    };
    await expect(start({ storage, managesLifecycle: true })).rejects.toBeInstanceOf(StoreAwayError);
    expect([driver.calls, driver.launches]).toEqual([[], []]);
    const again = await start();
    await eventually("the launch once more", () => Promise.resolve(driver.launches[0]));
    await again.close();
  });

  it("leaves no port and no store open, whatever it fails at", async () => {
    const wrong = null as unknown as never;
    await expect(start({ streams: { perClient: 1, all: 1 }, rates: wrong })).rejects.toThrow(TypeError);
    expect([store.closed, await isListening(port)]).toEqual([1, false]);
  });

  it("stops nothing that it has read, though it manages the lifecycle", async () => {
    const first = await start();
    const client = new GatewayClient({ url: first.url });
    await client.create({ name: "box", image: { name: "image" }, command: ["work"] });
    const launch = await eventually("a launch", () => Promise.resolve(driver.launches[0]));
    launch.succeed();
    await eventually("what runs", () => Promise.resolve(driver.running.size === 1));
    await first.close();
    driver.calls.length = 0;
    const unheard = new Error("nobody can be told of writes");
    const storage: ServeOptions["storage"] = ({ dataDir: dir }) => {
      const path = join(dir, "gateway.db");
      store = new WatchedStore(path);
      const follow = (): never => {
        throw unheard;
      };
      return { store, ledger: new SqliteActivationLedger(path), follow };
    };
    await expect(start({ storage, managesLifecycle: true })).rejects.toBe(unheard);
    expect(driver.calls.filter((call) => !call.startsWith("observe"))).toEqual([]);
    expect([driver.running.size, store.closed, await isListening(port)]).toEqual([1, 1, false]);
  });

  it("leaves nothing beside a note that cannot be replaced", async () => {
    await mkdir(join(dataDir, "gateway.json"), { recursive: true });
    await expect(start()).rejects.toThrow();
    expect((await readdir(dataDir)).filter((name) => name.startsWith("gateway.json"))).toEqual([
      "gateway.json",
    ]);
    expect([store.closed, await isListening(port)]).toEqual([1, false]);
  });

  it("says of nobody that they are away for an address that is not this machine's", async () => {
    const failure: unknown = await start({ host: "192.0.2.1" }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "EADDRNOTAVAIL" });
    expect(failure).not.toBeInstanceOf(StoreAwayError);
    expect(store.closed).toBe(1);
  });
});
