import { seededRandom, VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { KubernetesDriver } from "../src/driver/kubernetes-driver.js";
import { intentOf } from "../src/resource/sandbox-api.js";
import { ResourceStore } from "../src/store/resource-store.js";
import type { Transport } from "../src/api/transport.js";
import { SANDBOXES } from "./cluster/index.js";
import { launchRequest } from "./driver-kit.js";
import { Driven, NAMESPACE, SETTINGS, startNode } from "./kit.js";

const OPERATIONS = 1000;
const NAMES = ["a", "b", "c"];

/** Store and driver of one gateway's process, which can be killed: nothing of it reaches the cluster then. */
interface Replica {
  readonly store: ResourceStore;
  readonly driver: KubernetesDriver;
  readonly death: AbortController;
}

describe("two replicas' stores and drivers on one cluster", () => {
  it("lose no update, and leave one resource and at most one pod of each sandbox, in a thousand operations with random kills", {
    timeout: 120_000,
  }, async () => {
    const clock = new VirtualClock();
    const driven = new Driven(clock);
    const random = seededRandom(42);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    await using api = await startNode({ clock, release: "0.5.6" });
    let seed = 0;
    const begin = (): Replica => {
      seed += 1;
      const death = new AbortController();
      const transport = driven.watched(api.transport());
      const mortal: Transport = async (request) => {
        death.signal.throwIfAborted();
        return transport(request);
      };
      const chance = seededRandom(seed);
      const client = api.client({ transport: mortal, random: chance });
      const store = new ResourceStore({ client, clock, namespace: NAMESPACE, gateway: "gw", random: chance });
      return {
        store,
        death,
        driver: new KubernetesDriver({ client, clock, settings: SETTINGS, random: chance }),
      };
    };
    const replicas = [begin(), begin()];
    for (const name of NAMES) {
      await replicas[0]?.store.insert({ id: `id-${name}`, name, dueAt: null, value: { count: 0, run: 0 } });
    }
    api.server.ledger.reset();

    const acknowledged = new Map<string, number>();
    const unanswered = new Map<string, number>();
    const add = (to: Map<string, number>, name: string): void => void to.set(name, (to.get(name) ?? 0) + 1);
    /** Counts one up, and mints a run where a start is wanted: by compare-and-swap, decided anew on a conflict. */
    const change = async ({ store }: Replica, name: string, starts: boolean): Promise<number | null> => {
      for (let tries = 0; tries < 50; tries += 1) {
        const found = await store.get(`id-${name}`);
        if (found === null) return null;
        const [count, run] = [found.value["count"] as number, found.value["run"] as number];
        const next = { count: count + 1, run: starts ? run + 1 : run };
        try {
          if (!(await store.compareAndSwap(found.id, found.version, { dueAt: null, value: next }))) continue;
        } catch (error) {
          add(unanswered, name);
          throw error;
        }
        add(acknowledged, name);
        return next.run;
      }
      throw new Error("never got through");
    };
    const operate = async (replica: Replica, name: string, what: number): Promise<void> => {
      const { signal } = replica.death;
      const ref = { id: `id-${name}`, name };
      if (what < 0.7) await change(replica, name, false);
      else if (what < 0.9) {
        const run = await change(replica, name, true);
        const instance = { id: `${name}-${run ?? 0}`, attemptNumber: 1, run: run ?? 0 };
        await replica.driver.launch(
          { ...launchRequest(1), sandbox: ref, instance },
          { signal, report: () => undefined },
        );
      } else if (what < 0.97) await replica.driver.stop(ref, { signal });
      else {
        const path = `/apis/agents.x-k8s.io/v1beta1/namespaces/${NAMESPACE}/sandboxes/${name}`;
        await api.admin.patch(path, { spec: intentOf("v1beta1", false) }, { signal });
      }
    };

    let kills = 0;
    for (let done = 0; done < OPERATIONS; done += 8) {
      const batch = Array.from({ length: 8 }, () =>
        operate(pick(replicas), pick(NAMES), random()).catch(() => undefined),
      );
      let over = false;
      void Promise.all(batch).then(() => (over = true));
      if (random() < 0.2) {
        kills += 1;
        const [victim] = replicas.splice(Math.floor(random() * replicas.length), 1);
        victim?.death.abort(new Error("killed"));
        replicas.push(begin());
        void victim?.store.close();
      }
      await driven.run(240_000, () => over);
      expect(over).toBe(true);
    }
    const { requests } = api.server.ledger;
    expect(kills).toBeGreaterThan(10);
    const { store, driver } = begin();
    const { signal } = new AbortController();
    for (const name of NAMES) {
      const found = await store.get(`id-${name}`);
      const count = found?.value["count"] as number;
      // Every change that was acknowledged is there; of those whose answer was lost with the process some may be.
      expect(count).toBeGreaterThanOrEqual(acknowledged.get(name) ?? 0);
      expect(count).toBeLessThanOrEqual((acknowledged.get(name) ?? 0) + (unanswered.get(name) ?? 0));
      const seen = await driver.observe({ id: `id-${name}`, name }, {}, null, { signal });
      expect(seen.failureReason).toBeNull();
    }
    expect(api.node.handle.list(SANDBOXES, NAMESPACE)).toHaveLength(NAMES.length);
    expect(api.node.handle.list("pods", NAMESPACE).length).toBeLessThanOrEqual(NAMES.length);
    // Per operation: a look, a write and their conflicts; a start or stop looks again until it is done.
    expect(requests / OPERATIONS).toBeLessThan(40);
    await store.close();
    for (const replica of replicas) await replica.store.close();
  });
});
