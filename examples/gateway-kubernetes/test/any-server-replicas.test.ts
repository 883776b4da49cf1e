import type { NoticedChange, StoredSession } from "@slipway-examples/gateway-core";
import { eventually } from "@slipway-examples/gateway-core/testing";
import { systemClock } from "slipway";
import { describe, expect, it } from "vitest";
import { RECORD_GROUP, RECORD_VERSION } from "../src/store/record-object.js";
import { ResourceLedger } from "../src/store/resource-ledger.js";
import { ResourceStore } from "../src/store/resource-store.js";
import { AGAINST, startOnAnyServer } from "./any-server-kit.js";

/** Stores of several gateways on the server under test, on the system's clock. */
async function startStores() {
  const on = await startOnAnyServer();
  const { namespace } = on;
  const open: ResourceStore[] = [];
  return {
    ...on,
    store(): ResourceStore {
      const store = new ResourceStore({ client: on.client(), clock: systemClock, namespace, gateway: "gw" });
      open.push(store);
      return store;
    },
    async objects(plural: string): Promise<readonly unknown[]> {
      const path = `/apis/${RECORD_GROUP}/${RECORD_VERSION}/namespaces/${namespace}/${plural}`;
      return (await on.admin.get(path, { signal: on.signal }))["items"] as unknown[];
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(open.map((store) => store.close()));
      await on[Symbol.asyncDispose]();
    },
  };
}

function session(id: string, owner: string, until: number): StoredSession {
  return { id, owner, until, instanceId: `${id}-r1` };
}

const soon = (what: string, seen: () => Promise<boolean>): Promise<boolean> => eventually(what, seen, 30_000);

describe(`what gateways tell one another, against ${AGAINST}`, () => {
  it("is each write of another one, the latest of each record, and removals", async () => {
    await using on = await startStores();
    const [one, other] = [on.store(), on.store()];
    const heard: NoticedChange[] = [];
    const own: NoticedChange[] = [];
    const listener = (told: NoticedChange[]) => ({
      noticeChange: (change: NoticedChange) => Promise.resolve(void told.push(change)),
      noticeGap: () => undefined,
      noticeWrites: () => undefined,
    });
    other.follow(listener(heard));
    one.follow(listener(own));
    await Promise.all([one, other].map((store) => store.list({ limit: 1 })));
    expect(await one.insert({ id: "id-a", name: "a", dueAt: null, value: { count: 0 } })).toBe("inserted");
    for (let version = 1; version <= 5; version += 1)
      expect(await one.compareAndSwap("id-a", version, { dueAt: version, value: { count: version } })).toBe(
        true,
      );
    const latest = { id: "id-a", name: "a", version: 6, dueAt: 5, value: { count: 5 } };
    await soon("the latest", () => Promise.resolve(heard.at(-1)?.version === 6));
    expect(heard.at(-1)).toEqual({ id: "id-a", version: 6, found: latest });
    const ledger = new ResourceLedger(one);
    const entry = { state: "activating", version: 1, claim: "c", at: 1 } as const;
    expect(await ledger.compareAndSwap("id-a/id-a-r1", null, entry)).toBe(true);
    expect(await ledger.compareAndSwap("id-a/id-a-r1", null, { ...entry, claim: "d" })).toBe(false);
    expect(await new ResourceLedger(other).read("id-a/id-a-r1")).toEqual(entry);
    expect(await one.delete("id-a", 6)).toBe(true);
    await soon("the removal", () => Promise.resolve(heard.at(-1)?.found === null));
    // The ledger's part is no version of the record, and nobody hears of his own writes.
    expect(heard.map(({ version }) => version)).toEqual([...new Set(heard.map(({ version }) => version))]);
    expect(own).toEqual([]);
  });

  it("is who hears from which supervisor, until it ends, and what a dead one left is removed", async () => {
    await using on = await startStores();
    const [one, other] = [on.store().sessions, on.store().sessions];
    for (const each of [one, other]) await each.liveSessions(0);
    await one.keepSessions([session("a", "one", 9000), session("b", "one", 9000)]);
    await one.keepSessions([session("a", "one", 9500)]);
    const seen = async (now: number): Promise<string> =>
      (await other.liveSessions(now))
        .map(({ id, until }) => `${id} ${until}`)
        .sort()
        .join();
    await soon("both sessions", async () => (await seen(0)) === "a 9500,b 9000");
    expect(await seen(9000)).toBe("a 9500");
    // Begun anew by a process of the same name: what the one before it held is not its own.
    const again = on.store().sessions;
    await again.keepSessions([session("b", "one", 9700)]);
    await soon("the new one's", async () => (await seen(0)) === "b 9700");
    await again.endSessions("one");
    await soon("the end", async () => (await seen(0)) === "");
    expect(await on.objects("supervisorsessions")).toEqual([]);
    await on.store().sessions.keepSessions([session("c", "dead", 10_000)]);
    await soon("the dead one's", async () => (await seen(0)) === "c 10000");
    await soon("its removal", async () => {
      await other.liveSessions(1_000_000);
      return (await on.objects("supervisorsessions")).length === 0;
    });
  });

  it("is one time, which is the server's", async () => {
    await using on = await startStores();
    const client = on.client();
    const begunAt = Date.now();
    const { earliest, latest } = await client.clusterTime(on.signal);
    // Both run on this machine.
    expect(earliest).toBeLessThanOrEqual(Date.now() + 50);
    expect(latest).toBeGreaterThanOrEqual(begunAt - 50);
    expect(latest - earliest).toBeLessThan(1000);
  });
});
