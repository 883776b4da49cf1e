import pg from "pg";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { processDrivers } from "../src/driver/process-drivers.js";
import { DEFAULT_BUDGETS } from "../src/gateway/budgets.js";
import { serveGateway } from "../src/serve.js";
import { NewDataError, OtherDataError } from "../src/store/data-home.js";
import { because, missing, PostgresBench } from "./postgres-bench.js";
import { freePort, type PostgresServer } from "./postgres-server.js";
import { tempDir } from "./temp-dir.js";

const postgres = new PostgresBench();
let server: PostgresServer | null = null;

beforeAll(async () => {
  server = await postgres.start();
}, 120_000);

afterEach(() => postgres.closeOpened());

afterAll(() => postgres.dispose());

const freshUrl = () => postgres.freshUrl();
const openStore = (url: string) => postgres.openStore(url);

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
