import { seededRandom, VirtualClock } from "slipway/testing";
import { afterAll, describe, expect, it } from "vitest";
import { InProcessSupervisors, Replica, SPEC, tempDirs } from "./gateway-kit.js";
import { Driven, NAMESPACE, startNode } from "./kit.js";
import { SANDBOXES } from "./cluster/index.js";

const OPERATIONS = 1000;
const NAMES = ["a", "b", "c"];
/** Operations under way at once. */
const AT_ONCE = 12;

afterAll(() => tempDirs.remove());

describe("two replicas on records in the cluster", () => {
  it("lose no update and start nothing twice through a thousand operations with random kills", {
    timeout: 180_000,
  }, async () => {
    const clock = new VirtualClock();
    const driven = new Driven(clock);
    const random = seededRandom(42);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const replicas: Replica[] = [];
    const runtime: InProcessSupervisors = new InProcessSupervisors({
      clock,
      handle: () => api.node.handle,
      gateway: () => (replicas.length === 0 ? null : pick(replicas).core),
    });
    const api = await startNode({ clock, release: "0.5.6", runtime });
    const during = async <T>(work: Promise<T>): Promise<T> => {
      let done = false;
      work.then(
        () => (done = true),
        () => (done = true),
      );
      await driven.run(120_000, () => done, 250);
      if (!done) throw new Error("not done within two virtual minutes");
      return work;
    };
    let seed = 0;
    const begin = async (): Promise<void> => {
      seed += 1;
      const transport = driven.watched(api.transport());
      replicas.push(await during(Replica.start({ clock, transport, store: "cluster", seed })));
    };
    await begin();
    await begin();
    const ids: string[] = [];
    for (const name of NAMES) {
      const made = pick(replicas).core.create({
        name,
        spec: SPEC,
        policy: { version: 1, env: { COUNT: "0" } },
      });
      ids.push((await during(made)).record.id);
    }
    api.server.ledger.reset();
    const before = clock.now();

    // Updates that were answered as done: each one committed a generation of its own.
    const updates = new Map<string, number>(ids.map((id) => [id, 0]));
    const generations = new Map<string, number[]>(ids.map((id) => [id, []]));
    let kills = 0;
    const pending = new Set<Promise<unknown>>();
    for (let operation = 0; operation < OPERATIONS; operation += 1) {
      const { core } = pick(replicas);
      const id = pick(ids);
      const choice = random();
      let work: Promise<unknown>;
      if (choice < 0.55) {
        const count = operation + 1;
        work = core
          .update(id, { policy: { version: 1, env: { COUNT: String(count) } } })
          .then(({ record, result }) => {
            if (!("ok" in result) || !result.ok) return;
            updates.set(id, (updates.get(id) ?? 0) + 1);
            generations.get(id)?.push(record.configuration.generation);
          });
      } else if (choice < 0.75) work = core.stopSandbox(id);
      else work = core.startSandbox(id);
      // An operation on a replica that is killed meanwhile fails, and may have been done all the same.
      const settled: Promise<unknown> = work.catch(() => null).finally(() => pending.delete(settled));
      pending.add(settled);
      if (pending.size >= AT_ONCE) await during(Promise.all([...pending]));
      if (random() < 0.02) {
        kills += 1;
        const victim = pick(replicas);
        replicas.splice(replicas.indexOf(victim), 1);
        await during(victim.kill());
        await begin();
      }
    }
    await during(Promise.all([...pending]));
    expect(kills).toBeGreaterThan(10);

    // Everybody rests: each sandbox comes to where its record wants it.
    for (const id of ids)
      await during(
        pick(replicas)
          .core.startSandbox(id)
          .catch(() => null),
      );
    for (let turn = 0; turn < 60; turn += 1) {
      await driven.run(10_000);
      const records = await during(Promise.all(ids.map((id) => replicas[0]!.core.records.read(id))));
      if (records.every((found) => found?.record.phase === "Ready")) break;
      for (const found of records) {
        if (found !== null && ["Stopped", "Error", "Completed"].includes(found.record.phase))
          await during(
            pick(replicas)
              .core.startSandbox(found.record.id)
              .catch(() => null),
          );
      }
    }
    for (const id of ids) {
      const found = await during(replicas[0]!.core.records.read(id));
      expect(found?.record.phase).toBe("Ready");
      const seen = generations.get(id) ?? [];
      // No two updates that were acknowledged share a generation, and none is above what is stored.
      expect(new Set(seen).size).toBe(seen.length);
      expect(found?.record.configuration.generation).toBeGreaterThanOrEqual((updates.get(id) ?? 0) + 1);
      expect(Math.max(...seen)).toBeLessThanOrEqual(found?.record.configuration.generation ?? 0);
    }
    for (const [key, count] of runtime.started) expect([key, count]).toEqual([key, 1]);
    expect(runtime.mostLive).toBe(1);
    expect(api.node.handle.list("pods", NAMESPACE)).toHaveLength(NAMES.length);
    expect(api.node.handle.list(SANDBOXES, NAMESPACE)).toHaveLength(NAMES.length);

    // Requests: by what was done, and not by how many wait.
    const { requests } = api.server.ledger;
    const minutes = (clock.now() - before) / 60_000;
    expect(requests / OPERATIONS).toBeLessThan(40);
    // At rest two replicas look at three sandboxes once a sweep, and that is all.
    await driven.run(60_000);
    api.server.ledger.reset();
    await driven.run(300_000);
    console.log(
      `${OPERATIONS} operations, ${kills} kills, ${requests} requests in ${minutes.toFixed(1)} virtual minutes; at rest ${api.server.ledger.requests / 5} a minute`,
    );
    expect(api.server.ledger.requests / 5).toBeLessThan(200);
    for (const replica of replicas.splice(0)) await during(replica.kill());
    await api[Symbol.asyncDispose]();
  });
});
