import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Hono } from "hono";
import type { Gateway } from "../src/gateway/gateway.js";
import { ReadinessCheck, type Readiness } from "../src/gateway/readiness.js";
import { buildApp } from "../src/http/app.js";
import { FrontDoor } from "../src/http/front-door.js";
import { eventually } from "../src/testing/eventually.js";
import { StartedGateway } from "../src/testing/started-gateway.js";
import { Bench } from "./bench.js";
import { FakeDriver } from "./fake-driver.js";
import { tempDir } from "./temp-dir.js";

let bench: Bench;
let gateway: Gateway;
let app: Hono;

beforeEach(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway();
  app = buildApp({ gateway, log: () => undefined });
});

afterEach(() => bench.close());

async function ready(): Promise<Readiness & { status: number }> {
  const response = await app.request("/readyz");
  return { ...((await response.json()) as Readiness), status: response.status };
}

describe("readiness", () => {
  it("is there when the store answers, the records were read, and each backend was listed", async () => {
    const checks = { shutdown: "ok", recovery: "ok", store: "ok", "driver fake": "ok" };
    expect(await ready()).toEqual({ status: 200, ready: true, checks });
  });

  it("goes while a backend does not answer, and comes back with it; life stays", async () => {
    const { list } = bench.driver;
    bench.driver.list = () => Promise.reject(new Error("token=secret"));
    await gateway.reconcile().catch(() => undefined);
    await bench.settle();
    expect(await ready()).toMatchObject({
      status: 503,
      ready: false,
      checks: { "driver fake": "does not answer" },
    });
    expect((await app.request("/healthz")).status).toBe(200);
    bench.driver.list = list.bind(bench.driver);
    await bench.pass(60_000);
    expect(await ready()).toMatchObject({ status: 200, ready: true });
  });

  it("goes when the store does not answer, for a store that hangs after two seconds", async () => {
    const store = bench.storeOf(gateway);
    store.earliestDue = () => Promise.reject(new Error("connection to 10.1.2.3 lost"));
    await bench.pass(1000);
    expect(await ready()).toMatchObject({ status: 503, checks: { store: "does not answer" } });
    const hanging = new ReadinessCheck({
      clock: bench.clock,
      store: { earliestDue: () => new Promise(() => undefined) },
      drivers: [],
      answered: () => null,
      isRecovered: () => true,
      isClosing: () => false,
    });
    const waiting = hanging.look();
    await bench.pass(2000);
    expect(await waiting).toMatchObject({ ready: false, checks: { store: "does not answer" } });
  });

  it("asks the store once a second, however often it is asked", async () => {
    const store = bench.storeOf(gateway);
    await bench.pass(1000);
    let asked = 0;
    store.earliestDue = () => Promise.resolve((asked += 1));
    for (let probe = 0; probe < 20; probe += 1) await ready();
    expect(asked).toBe(1);
  });

  it("is gone once the gateway ends", async () => {
    await gateway.close();
    expect(await ready()).toMatchObject({ status: 503, checks: { shutdown: "shutting down" } });
  });

  it("is not there before the records were read, and other requests wait until then", async () => {
    const door = new FrontDoor();
    const at = (path: string) => door.fetch(new Request(`http://localhost${path}`), {});
    expect((await at("/healthz")).status).toBe(200);
    const early = await at("/readyz");
    expect(early.status).toBe(503);
    expect(await early.json()).toEqual({ ready: false, checks: { recovery: "under way" } });
    const waiting = at("/v1/sandboxes");
    door.open(app);
    expect((await waiting).status).toBe(200);
    expect((await at("/readyz")).status).toBe(200);
  });

  it("comes by itself on a gateway that is served", async () => {
    const served = await StartedGateway.start({
      drivers: [new FakeDriver()],
      dataDir: join(await tempDir(), "data"),
      ownerToken: "owner",
    });
    try {
      await eventually("readiness, without a token", async () => (await fetch(`${served.url}/readyz`)).ok);
    } finally {
      await served.close();
    }
  });
});
