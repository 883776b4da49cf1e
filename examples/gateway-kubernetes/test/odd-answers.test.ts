import { seededRandom, VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { KubeClient } from "../src/api/kube-client.js";
import { textOf } from "../src/api/read-body.js";
import type { Transport } from "../src/api/transport.js";
import { KubernetesDriver } from "../src/driver/kubernetes-driver.js";
import { ResourceStore } from "../src/store/resource-store.js";
import { REF, startDriver } from "./driver-kit.js";
import { Driven, NAMESPACE, SETTINGS, startCluster } from "./kit.js";
import { startStores } from "./store-kit.js";

/** Successes that are no answers: a portal, a balancer's page, a server of another kind. */
const ODD: readonly (readonly [string, string])[] = [
  ["an empty object", "{}"],
  ["an object of its own", '{"status":"ok"}'],
  ["a list without a version", '{"kind":"SandboxList","items":[]}'],
  ["an object without a uid", '{"metadata":{"name":"box"}}'],
  ["another object", '{"kind":"Sandbox","metadata":{"name":"other","uid":"u"}}'],
  ["a page", "<html></html>"],
];

interface Oddity {
  readonly transport: Transport;
  /** What every GET but a watch is answered with, while there is one. */
  odd: string | null;
}

function answeredOddly(own: Transport): Oddity {
  const it: Oddity = {
    odd: null,
    transport: async (request) => {
      const reply = await own(request);
      const { odd } = it;
      if (odd === null || request.method !== "GET" || request.path.includes("watch=true")) return reply;
      await textOf(reply.body);
      return { ...reply, status: 200, body: bodyOf(odd) };
    },
  };
  return it;
}

async function* bodyOf(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}

describe("a success that is no answer", () => {
  it.each(ODD)(
    "such as %s says nothing about a sandbox, least of all that it is gone",
    async (_what, body) => {
      await using it = await startDriver("0.5.6");
      const odd = answeredOddly(it.driven.watched(it.transport()));
      const client = new KubeClient({ transport: odd.transport, clock: it.clock, random: seededRandom(3) });
      const driver = new KubernetesDriver({ client, clock: it.clock, settings: SETTINGS });
      await it.during(it.launch(1, driver));
      odd.odd = body;
      const { signal } = it;
      const run = { instanceId: "instance-1", desired: "running" } as const;
      await expect(it.during(driver.observe(REF, run, null, { signal }))).rejects.toThrow(/answer is no/);
      await expect(it.during(driver.list(null, { signal }))).rejects.toThrow(/answer is no/);
      odd.odd = null;
      expect(await it.during(driver.observe(REF, run, null, { signal }))).toMatchObject({ running: true });
      expect((await it.during(driver.list(null, { signal }))).items).toHaveLength(1);
    },
  );

  it.each(ODD)("such as %s takes no record away", async (_what, body) => {
    const clock = new VirtualClock();
    await using cluster = await startCluster({ clock });
    const driven = new Driven(clock);
    const odd = answeredOddly(driven.watched(cluster.transport()));
    const client = new KubeClient({ transport: odd.transport, clock, random: seededRandom(3) });
    await using store = disposable(new ResourceStore({ client, clock, namespace: NAMESPACE, gateway: "gw" }));
    const during = async <T>(work: Promise<T>): Promise<T> => {
      let done = false;
      work.then(
        () => (done = true),
        () => (done = true),
      );
      await driven.run(120_000, () => done);
      return work;
    };
    await during(store.insert({ id: "id", name: "box", dueAt: null, value: { count: 0 } }));
    odd.odd = body;
    await expect(during(store.get("id"))).rejects.toThrow(/answer is no/);
    // The mirror is to be listed anew, and cannot.
    cluster.server.compact();
    cluster.server.faults.inject({ fault: { kind: "cut", when: "before" }, times: 1 });
    await driven.run(60_000);
    odd.odd = null;
    expect(await during(store.list({ limit: 10 }))).toMatchObject({ items: [{ id: "id" }] });
    expect(await during(store.get("id"))).toMatchObject({ id: "id", version: 1 });
  });
});

describe("a write that is answered with a success that is no answer, and was not carried out", () => {
  const ACTIVE = { state: "active", version: 1, claim: "a", at: 0 };

  it.each(ODD)("such as %s, is no write", async (_what, body) => {
    await using it = await startStores();
    const own = it.driven.watched(it.cluster.transport());
    let odd: string | null = null;
    const transport: Transport = async (request) => {
      if (odd === null || request.method === "GET") return own(request);
      // As slow as any other, so that time goes on by itself.
      const reply = await own({ ...request, method: "GET", body: undefined, path: "/version", headers: {} });
      await textOf(reply.body);
      return { ...reply, status: 200, body: bodyOf(odd) };
    };
    const client = it.cluster.client({ transport, random: seededRandom(3) });
    const { clock } = it;
    await using store = disposable(new ResourceStore({ client, clock, namespace: NAMESPACE, gateway: "gw" }));
    await it.insert(store, "a");
    odd = body;
    await expect(it.during(store.compareAndSwap("id-a", 1, { dueAt: null, value: {} }))).rejects.toThrow(
      /answer is no/,
    );
    const claim = store.changeActivations("id-a", () => ({ run: ACTIVE }));
    await expect(it.during(claim)).rejects.toThrow(/answer is no/);
    await expect(it.insert(store, "b")).rejects.toThrow(/answer is no/);
    await expect(it.during(store.delete("id-a", 1))).rejects.toThrow(/answer is no/);
    odd = null;
    expect(await it.during(store.activations("id-a"))).toEqual({});
    expect(await it.during(store.get("id-a"))).toMatchObject({ version: 1, value: { count: 0 } });
    expect(await it.change(store, "a", 1)).toBe(true);
    expect(await it.insert(store, "b")).toBe("inserted");
    expect(await it.during(store.delete("id-a", 2))).toBe(true);
  });
});

function disposable<T extends { close(): Promise<void> }>(owned: T): T & AsyncDisposable {
  return Object.assign(owned, { [Symbol.asyncDispose]: () => owned.close() });
}
