import type { NoticedChange, StoredRecord } from "@slipway-examples/gateway-core";
import { seededRandom, VirtualClock } from "slipway/testing";
import { ResourceStore } from "../src/store/resource-store.js";
import { Driven, NAMESPACE, startCluster } from "./kit.js";

/** Stores of several gateways on one API server, on one virtual clock. */
export async function startStores() {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock });
  const driven = new Driven(clock);
  const open: ResourceStore[] = [];
  let seed = 0;
  const it = {
    cluster,
    clock,
    driven,
    server: cluster.server,
    store(): ResourceStore {
      seed += 1;
      const random = seededRandom(seed);
      const client = cluster.client({ transport: driven.watched(cluster.transport()), random });
      const store = new ResourceStore({ client, clock, namespace: NAMESPACE, gateway: "gw", random });
      open.push(store);
      return store;
    },
    async during<T>(work: Promise<T>, limitMs = 120_000): Promise<T> {
      let done = false;
      const settled = work.finally(() => (done = true));
      settled.catch(() => undefined);
      await driven.run(limitMs, () => done);
      if (!(done as boolean)) throw new Error(`not done within ${limitMs} virtual milliseconds`);
      return settled;
    },
    /** What a store tells of, in order. */
    heard(store: ResourceStore): { readonly changes: NoticedChange[]; gaps: number; doubts: number } {
      const told = { changes: [] as NoticedChange[], gaps: 0, doubts: 0 };
      store.follow({
        noticeChange: (change) => Promise.resolve(void told.changes.push(change)),
        noticeGap: () => void (told.gaps += 1),
        noticeWrites: () => void (told.doubts += 1),
      });
      return told;
    },
    insert: (store: ResourceStore, name: string, dueAt: number | null = null) =>
      it.during(store.insert({ id: `id-${name}`, name, dueAt, value: { count: 0 } })),
    change: (store: ResourceStore, name: string, version: number, dueAt: number | null = null) =>
      it.during(store.compareAndSwap(`id-${name}`, version, { dueAt, value: { count: version } })),
    async [Symbol.asyncDispose]() {
      await Promise.all(open.map((store) => store.close()));
      await cluster[Symbol.asyncDispose]();
    },
  };
  return it;
}

export const nameOfRecord = ({ name }: StoredRecord): string => name;
