import fc from "fast-check";
import type { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { sameSecret } from "../src/gateway/supervisor-auth.js";
import { buildApp } from "../src/http/app.js";
import { Bench } from "./bench.js";
import { claimOf } from "./claims.js";

let bench: Bench;
let gateway: Gateway;
let app: Hono;
let id: string;

beforeEach(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway();
  app = buildApp({ gateway, log: () => undefined });
  id = await bench.create(gateway);
});

afterEach(() => bench.close());

interface Credentials {
  readonly token: string;
  readonly run: number;
}

async function credentials(): Promise<Credentials> {
  const { deadline, run } = await bench.read(gateway, id);
  return { token: deadline?.attempt ?? "", run };
}

/** What each thing that a supervisor may ask for is answered with, by its route. */
async function answers({ token, run }: Credentials): Promise<Record<string, number>> {
  const headers = { authorization: `Bearer ${token}`, "x-slipway-run": String(run) };
  const at = async (method: string, path: string, body?: object) => {
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    return (await app.request(`/v1/supervisor/${id}/${path}`, init)).status;
  };
  return {
    configuration: await at("GET", "configuration"),
    report: await at("POST", "report", { kind: "accepted", generation: 1 }),
    claim: await at("POST", "activation", { expectedVersion: null, next: claimOf("mine", 0) }),
  };
}

const all = (status: number) => ({ configuration: status, report: status, claim: status });

describe("the token of an attempt", () => {
  it("opens its supervisor's side while the attempt lasts", async () => {
    const own = await credentials();
    bench.driver.launches.at(-1)?.succeed();
    await bench.settle();
    expect(await answers(own)).toEqual(all(200));
  });

  it("is another one for each attempt, and the one before opens nothing after a restart", async () => {
    const old = await credentials();
    await gateway.stopSandbox(id);
    await bench.settle();
    await gateway.startSandbox(id);
    await bench.settle();
    const fresh = await credentials();
    expect(fresh.token).not.toBe(old.token);
    expect(await answers(old)).toEqual(all(401));
    expect(await answers({ ...old, run: fresh.run })).toEqual(all(401));
    expect((await answers(fresh))["configuration"]).toBe(200);
  });

  it("gives out no configuration from the instant of the expiry on, also before anybody wrote it", async () => {
    const own = await credentials();
    const { deadline } = await bench.read(gateway, id);
    const store = bench.storeOf(gateway);
    const { compareAndSwap } = store;
    store.compareAndSwap = () => Promise.reject(new Error("the store is read only"));
    await bench.clock.advanceAsync((deadline?.stallEndsAt ?? 0) - bench.clock.now());
    expect((await bench.read(gateway, id)).deadline?.status).toBe("active");
    expect(await answers(own)).toMatchObject({ configuration: 410, claim: 410 });
    store.compareAndSwap = compareAndSwap.bind(store);
  });

  it("is worth nothing once the attempt expired, and its end decides nothing any more", async () => {
    const own = await credentials();
    await bench.pass(20_000);
    const expired = await bench.read(gateway, id);
    expect(expired.deadline?.status).toBe("expired");
    expect(await answers(own)).toEqual(all(410));
    expect(await bench.read(gateway, id)).toMatchObject({
      phase: "Error",
      reason: expired.reason,
      admission: expired.admission,
    });
  });

  it("is worth nothing once the sandbox was stopped, ended, or is deleted", async () => {
    await bench.becomeReady(gateway, id);
    const own = await credentials();
    await bench.report(gateway, id, { kind: "exited", exitCode: 0, signal: null });
    expect(await answers(own)).toEqual(all(410));
    await gateway.startSandbox(id);
    await bench.settle();
    const next = await credentials();
    await gateway.stopSandbox(id);
    expect(await answers(next)).toEqual(all(410));
    await gateway.deleteSandbox(id);
    await bench.settle();
    expect(await gateway.records.read(id)).toBeNull();
    expect(await answers(next)).toEqual(all(401));
  });

  it("is of one run: a supervisor of the run before is told so", async () => {
    const { token, run } = await credentials();
    expect(await answers({ token, run: run + 1 })).toEqual(all(409));
  });

  it("says nothing about which sandboxes there are", async () => {
    const ask = (of: string) =>
      app.request(`/v1/supervisor/${of}/configuration`, {
        headers: { authorization: "Bearer guess", "x-slipway-run": "1" },
      });
    const [there, none] = [await ask(id), await ask("sb-none")];
    expect([there.status, none.status]).toEqual([401, 401]);
    expect(await there.text()).toBe(await none.text());
  });
});

describe("comparing secrets", () => {
  it("is by content, whatever their lengths", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(sameSecret(a, a)).toBe(true);
        expect(sameSecret(a, b)).toBe(a === b);
        expect(sameSecret(a, `${a}x`)).toBe(false);
      }),
      { seed: 3 },
    );
  });
});
