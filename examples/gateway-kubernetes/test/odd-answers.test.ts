import { seededRandom, VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { KubeClient } from "../src/api/kube-client.js";
import { textOf } from "../src/api/read-body.js";
import type { Transport } from "../src/api/transport.js";
import { KubernetesDriver } from "../src/driver/kubernetes-driver.js";
import { ResourceStore } from "../src/store/resource-store.js";
import { REF, startDriver } from "./driver-kit.js";
import { Driven, NAMESPACE, SETTINGS, startCluster } from "./kit.js";

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

function disposable<T extends { close(): Promise<void> }>(owned: T): T & AsyncDisposable {
  return Object.assign(owned, { [Symbol.asyncDispose]: () => owned.close() });
}
