import { systemClock } from "slipway";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { GatewayProcess } from "../src/demo/gateway-process.js";
import { GatewayClient } from "../src/client/gateway-client.js";
import { Sessions } from "../src/gateway/sessions.js";
import { PostgresStore } from "../src/store/postgres/postgres-store.js";
import { eventually } from "../src/testing/eventually.js";
import { fileURLToPath } from "node:url";
import { directoryImage } from "./images.js";
import { TcpProxy } from "../src/testing/tcp-proxy.js";
import { findPostgres, PostgresServer } from "./postgres-server.js";
import { tempDir } from "./temp-dir.js";

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const found = findPostgres();
const because = "missing" in found ? ` (skipped: ${found.missing})` : "";
let server: PostgresServer | null = null;
const gateways: GatewayProcess[] = [];
const proxies: TcpProxy[] = [];

beforeAll(async () => {
  if ("bin" in found) server = await PostgresServer.start(found.bin);
}, 120_000);

afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.end("SIGKILL")));
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});

afterAll(async () => {
  await server?.dispose();
});

async function freshUrl(): Promise<string> {
  if (server === null) throw new Error("no server");
  return server.url(await server.createDatabase());
}

describe.skipIf(because !== "")(`two gateways on one database${because}`, () => {
  it("serve any request, hear of each other's writes, and one takes over when the other is killed", async () => {
    const dir = await tempDir();
    await directoryImage(join(dir, "image"), 100_000);
    const url = await freshUrl();
    const proxy = await TcpProxy.start();
    proxies.push(proxy);
    const supervisorUrl = `http://127.0.0.1:${proxy.port}`;
    const start = async (): Promise<[GatewayProcess, GatewayClient]> => {
      const args = [
        "--database-url",
        url,
        "--port",
        "0",
        "--lease-ms",
        "2000",
        "--supervisor-url",
        supervisorUrl,
      ];
      const gateway = new GatewayProcess({ dataDir: dir, args, cli });
      gateways.push(gateway);
      return [gateway, new GatewayClient({ url: await gateway.start() })];
    };
    const [first, one] = await start();
    const [, other] = await start();
    proxy.direct([one, other].map(({ url: address }) => Number(new URL(address).port)));
    const { id } = await one.create({
      name: "box",
      driver: "process",
      image: { name: "box:1", path: join(dir, "image") },
      command: ["sh", "-c", "echo started >> starts; exec sleep 600"],
    });
    const until = (client: GatewayClient, phase: string) =>
      eventually(`phase ${phase}`, async () => {
        const view = await client.get(id);
        return view.phase === phase && view;
      });
    const ready = await until(other, "Ready");
    expect(ready.name).toBe("box");
    await other.stop(id);
    await until(one, "Stopped");
    await one.start(id);
    // The gateway that has the driver's work is killed in the middle of it, or just after.
    await first.end("SIGKILL");
    await until(other, "Ready");
    const starts = await readFile(join(dir, "data", "sandboxes", id, "workspace", "starts"), "utf8");
    expect(starts).toBe("started\nstarted\n");
    await other.delete(id);
    await eventually("nothing left", async () => (await other.list()).items.length === 0);
  });
});

describe.skipIf(because !== "")(`sessions of supervisors${because}`, () => {
  it("are seen by every gateway of the store until their lease ends, and not after their gateway has ended", async () => {
    const url = await freshUrl();
    const stores = [await PostgresStore.open({ url }), await PostgresStore.open({ url })];
    for (const id of ["sb-1", "sb-2"])
      await stores[0]?.insert({ id, name: `box-${id}`, dueAt: null, value: {} });
    const log = () => undefined;
    const [here, there] = stores.map(
      (store, index) =>
        new Sessions({ clock: systemClock, log, owner: `gateway-${index}`, store: store.sessions }),
    );
    if (here === undefined || there === undefined) return;
    const now = systemClock.now();
    here.note("sb-1", "run-1", now);
    here.note("sb-2", "run-2", now);
    const session = await eventually("the session", async () => {
      await there.refresh();
      return there.of("sb-1", now);
    });
    expect(session).toEqual({ connected: true, instanceId: "run-1" });
    // The supervisor calls the other one: the later contact decides, whoever writes last.
    there.note("sb-1", "run-1", now + 1000);
    await here.close();
    await there.refresh("sb-1");
    expect(there.of("sb-1", now + 2000)).toEqual({ connected: true, instanceId: "run-1" });
    await there.refresh();
    expect(there.of("sb-2", now + 2000)).toBeNull();
    expect(there.of("sb-1", now + 60_000)).toBeNull();
    await there.close();
    await Promise.all(stores.map((store) => store.close()));
  });
});
