import type { StoredSession } from "@slipway-examples/gateway-core";
import { describe, expect, it } from "vitest";
import { SESSIONS_IN_ONE } from "../src/store/session-objects.js";
import { NAMESPACE } from "./kit.js";
import { startStores } from "./store-kit.js";

const PATH = `/apis/gateway.slipway.dev/v1alpha1/namespaces/${NAMESPACE}/supervisorsessions`;

function session(id: string, owner: string, until: number, instanceId = `${id}-r1`): StoredSession {
  return { id, owner, until, instanceId };
}

const idsOf = (sessions: readonly StoredSession[]): string[] => sessions.map(({ id }) => id).sort();

async function started() {
  const it = await startStores();
  const { signal } = new AbortController();
  const objects = async (): Promise<{ spec: { owner: string; sessions?: object } }[]> => {
    const list = await it.during(it.cluster.admin.get(PATH, { signal }));
    return list["items"] as { spec: { owner: string; sessions?: object } }[];
  };
  const store = async () => {
    const { sessions } = it.store();
    await sessions.liveSessions(0);
    await it.driven.run(1000);
    return sessions;
  };
  return { ...it, objects, newStore: store };
}

describe("sessions in the cluster", () => {
  it("are seen by every gateway until their lease ends", async () => {
    await using it = await started();
    const [one, other] = [await it.newStore(), await it.newStore()];
    await it.during(one.keepSessions([session("a", "one", 1000), session("b", "one", 2000)]));
    await it.driven.run(500);
    for (const each of [one, other]) {
      expect(idsOf(await each.liveSessions(999))).toEqual(["a", "b"]);
      expect(idsOf(await each.liveSessions(1000))).toEqual(["b"]);
      expect(idsOf(await each.liveSessions(999, ["a", "x"]))).toEqual(["a"]);
      expect(await each.liveSessions(2000)).toEqual([]);
    }
  });

  it("are whose lease ends last, whoever wrote last", async () => {
    await using it = await started();
    const [one, other] = [await it.newStore(), await it.newStore()];
    await it.during(one.keepSessions([session("a", "one", 3000)]));
    await it.during(other.keepSessions([session("a", "other", 2000)]));
    await it.driven.run(500);
    for (const each of [one, other]) expect(await each.liveSessions(0)).toEqual([session("a", "one", 3000)]);
    await it.during(other.keepSessions([session("a", "other", 4000, "a-r2")]));
    await it.driven.run(500);
    for (const each of [one, other])
      expect(await each.liveSessions(0)).toEqual([session("a", "other", 4000, "a-r2")]);
  });

  it("end with their owner, and so do those of the process before it", async () => {
    await using it = await started();
    const [before, other] = [await it.newStore(), await it.newStore()];
    await it.during(before.keepSessions([session("a", "one", 9000), session("b", "one", 9000)]));
    await it.driven.run(1500);
    // Killed, and started again under its own name.
    const again = await it.newStore();
    await it.during(again.keepSessions([session("b", "one", 9500)]));
    await it.driven.run(500);
    expect(idsOf(await other.liveSessions(0))).toEqual(["b"]);
    await it.during(again.endSessions("one"));
    await it.driven.run(500);
    expect(await other.liveSessions(0)).toEqual([]);
    expect(await it.objects()).toEqual([]);
  });

  it("of a crowd are written once a second, and in objects that fit", async () => {
    await using it = await started();
    const one = await it.newStore();
    const other = await it.newStore();
    const count = SESSIONS_IN_ONE + 500;
    const crowd = (until: number): StoredSession[] =>
      Array.from({ length: count }, (_, n) => session(`sb-${n}`, "one", until));
    await it.during(one.keepSessions(crowd(60_000)));
    await it.driven.run(1000);
    expect(idsOf(await other.liveSessions(0))).toHaveLength(count);
    const objects = await it.objects();
    expect(objects).toHaveLength(2);
    for (const object of objects) expect(JSON.stringify(object).length).toBeLessThan(1_000_000);
    it.server.ledger.reset();
    const begunAt = it.clock.now();
    for (let round = 1; round <= 5; round += 1) {
      await it.during(one.keepSessions([session("sb-1", "one", 60_000 + round)]));
    }
    expect(it.clock.now() - begunAt).toBeGreaterThanOrEqual(4000);
    expect(it.server.ledger.count("patch", "supervisorsessions")).toBe(5);
  });

  it("leave nothing behind: not when they end, and not when their gateway never comes back", async () => {
    await using it = await started();
    const [dead, one] = [await it.newStore(), await it.newStore()];
    await it.during(dead.keepSessions([session("x", "dead", 1000)]));
    for (let n = 1; n <= 50; n += 1) {
      await one.liveSessions(n * 1000);
      await it.during(one.keepSessions([session(`sb-${n}`, "one", n * 1000 + 500)]));
    }
    const mine = (await it.objects()).find(({ spec }) => spec.owner === "one");
    expect(Object.keys(mine?.spec.sessions ?? {})).toEqual(["sb-50"]);
    await one.liveSessions(600_000);
    await it.driven.run(1000);
    expect(await it.objects()).toHaveLength(2);
    await one.liveSessions(602_000);
    await it.driven.run(1000);
    expect((await it.objects()).map(({ spec }) => spec.owner)).toEqual(["one"]);
  });

  it("are written anew by a gateway that lives, though somebody took its object away", async () => {
    await using it = await started();
    const [one, other] = [await it.newStore(), await it.newStore()];
    await it.during(one.keepSessions([session("a", "one", 9000)]));
    const { signal } = new AbortController();
    const list = await it.during(it.cluster.admin.get(PATH, { signal }));
    const [{ metadata }] = list["items"] as [{ metadata: { name: string } }];
    await it.during(it.cluster.admin.delete(`${PATH}/${metadata.name}`, {}, { signal }));
    await it.during(one.keepSessions([session("b", "one", 9000)]));
    await it.driven.run(500);
    expect(idsOf(await other.liveSessions(0))).toEqual(["a", "b"]);
  });
});
