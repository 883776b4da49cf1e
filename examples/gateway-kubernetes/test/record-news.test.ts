import { afterAll, describe, expect, it } from "vitest";
import { SPEC, tempDirs } from "./gateway-kit.js";
import { startWorld } from "./gateway-world.js";
import { startStores } from "./store-kit.js";

afterAll(() => tempDirs.remove());

describe("a store of custom resources", () => {
  it("tells of what others write, with what they wrote, and not of its own", async () => {
    await using it = await startStores();
    const [one, other] = [it.store(), it.store()];
    const heard = [it.heard(one), it.heard(other)];
    await it.driven.run(1000);
    await it.insert(one, "a");
    await it.driven.run(1000);
    it.server.ledger.reset();
    await it.change(one, "a", 1, 5000);
    await it.driven.run(1000);
    await it.during(one.delete("id-a", 2));
    await it.driven.run(1000);
    expect(heard[0]?.changes).toEqual([]);
    expect(heard[1]?.changes).toEqual([
      {
        id: "id-a",
        version: 1,
        found: { id: "id-a", name: "a", version: 1, dueAt: null, value: { count: 0 } },
      },
      {
        id: "id-a",
        version: 2,
        found: { id: "id-a", name: "a", version: 2, dueAt: 5000, value: { count: 1 } },
      },
      { id: "id-a", version: 3, found: null },
    ]);
    expect(heard[1]?.gaps).toBe(1);
    // The write, the look before the removal, and the removal: news cost nobody a request.
    expect(it.server.ledger.requests).toBe(3);
  });

  it("tells of its own write where it never learnt that it went through", async () => {
    await using it = await startStores();
    const one = it.store();
    const heard = it.heard(one);
    await it.driven.run(1000);
    await it.insert(one, "a");
    it.server.faults.inject({ fault: { kind: "cut", when: "after" }, when: ({ verb }) => verb === "patch" });
    it.server.faults.inject({ fault: { kind: "status", code: 503 }, when: ({ verb }) => verb === "get" });
    await expect(it.change(one, "a", 1)).rejects.toThrow();
    await it.driven.run(1000);
    expect(heard.changes).toMatchObject([{ id: "id-a", version: 2, found: { value: { count: 1 } } }]);
  });

  it("tells the latest of a record that is written many times in a row", async () => {
    await using it = await startStores();
    const [one, other] = [it.store(), it.store()];
    const heard = it.heard(other);
    await it.driven.run(1000);
    await it.insert(one, "a");
    await it.driven.run(1000);
    let version = 1;
    const writing = (async () => {
      for (; version <= 50; version += 1)
        await one.compareAndSwap("id-a", version, { dueAt: null, value: { count: version } });
    })();
    await it.during(writing);
    await it.driven.run(1000);
    expect(heard.changes.length).toBeLessThan(25);
    expect(heard.changes.at(-1)).toMatchObject({ version: 51, found: { value: { count: 50 } } });
  });

  it("tells nothing of what another wrote of a record that it then removed or wrote itself", async () => {
    await using it = await startStores();
    const [one, other] = [it.store(), it.store()];
    await it.driven.run(1000);
    await it.insert(one, "removed");
    await it.insert(one, "written");
    await it.driven.run(1000);
    const heard = it.heard(other);
    const both = (async () => {
      for (const name of ["removed", "written"])
        await one.compareAndSwap(`id-${name}`, 1, { dueAt: null, value: { count: 1 } });
    })();
    await it.during(both, 0);
    // The news have come, and wait to be told.
    await it.driven.run(50, undefined, 10);
    expect(heard.changes).toEqual([]);
    const own = Promise.all([
      other.delete("id-removed", 2),
      other.compareAndSwap("id-written", 2, { dueAt: null, value: { count: 2 } }),
    ]);
    await it.driven.run(100, undefined, 10);
    expect(await own).toEqual([true, true]);
    await it.driven.run(2000);
    expect(heard.changes).toEqual([]);
  });

  it("tells of a write that it first heard of in the answer to a change beside the record", async () => {
    await using it = await startStores();
    const [one, other] = [it.store(), it.store()];
    const heard = it.heard(other);
    await it.driven.run(1000);
    await it.insert(one, "a");
    await it.driven.run(1000);
    heard.changes.length = 0;
    const broken = it.server.faults.inject({
      fault: { kind: "status", code: 503 },
      when: ({ verb }) => verb === "watch",
    });
    it.server.cutWatches();
    await it.driven.run(250);
    await it.change(one, "a", 1);
    await it.during(
      other.changeActivations("id-a", () => ({ run: { state: "activating", version: 1, at: 0 } })),
    );
    broken[Symbol.dispose]();
    await it.driven.run(60_000);
    expect(heard.changes).toMatchObject([{ id: "id-a", version: 2, found: { value: { count: 1 } } }]);
  });

  it("raises doubt once a second while its stream is broken, and none while it is open", async () => {
    await using it = await startStores();
    const store = it.store();
    await it.driven.run(1000);
    const heard = it.heard(store);
    await it.driven.run(60_000);
    expect(heard.doubts).toBe(0);
    const broken = it.server.faults.inject({
      fault: { kind: "status", code: 503 },
      when: ({ verb }) => verb === "watch",
    });
    it.server.cutWatches();
    await it.driven.run(10_250);
    expect(heard.doubts).toBe(10);
    broken[Symbol.dispose]();
    await it.driven.run(60_000);
    const { doubts } = heard;
    await it.driven.run(60_000);
    expect(heard.doubts).toBe(doubts);
    expect(heard.gaps).toBe(1);
  });

  it("tells after a break what became of each record meanwhile, removals and successors of the same name included", async () => {
    await using it = await startStores();
    const [one, other] = [it.store(), it.store()];
    const heard = it.heard(other);
    await it.driven.run(1000);
    for (const name of ["kept", "changed", "removed", "replaced"]) await it.insert(one, name);
    await it.driven.run(1000);
    heard.changes.length = 0;
    // Nobody hears of anything, and what happened is forgotten by the server before anybody asks.
    const broken = it.server.faults.inject({
      fault: { kind: "status", code: 503 },
      when: ({ verb }) => verb === "watch",
    });
    it.server.cutWatches();
    await it.driven.run(250);
    const third = it.store();
    await it.during(third.compareAndSwap("id-changed", 1, { dueAt: null, value: { count: 7 } }));
    await it.during(third.delete("id-removed", 1));
    await it.during(third.delete("id-replaced", 1));
    await it.insert(third, "replaced");
    await it.insert(third, "added");
    it.server.compact();
    broken[Symbol.dispose]();
    await it.driven.run(120_000);
    const told = heard.changes.map(({ id, version, found }) => [id, version, found === null]);
    expect(told.sort()).toEqual([
      ["id-added", 1, false],
      ["id-changed", 2, false],
      ["id-removed", 2, true],
      ["id-replaced", 1, false],
    ]);
    expect(heard.gaps).toBe(1);
  });
});

describe("a question that is held, with records in the cluster", () => {
  it("costs no read while the stream is open, and one a second while it is broken", async () => {
    await using it = await startWorld("0.5.6", "cluster");
    const { core, running } = await it.gateway();
    const { record } = await it.during(core.create({ name: "box", spec: SPEC, policy: { version: 1 } }));
    await it.until("box", "Ready");
    const { run, deadline, configuration } = (await it.during(core.records.read(record.id)))!.record;
    // The first sweep after it has its own word on it.
    await it.driven.run(15_000);
    const reads = (): number => it.server.ledger.count("get", "sandboxrecords");
    it.server.ledger.reset();
    const query = `after=${configuration.generation}&waitMs=60000`;
    const held = fetch(`${running.url}/v1/supervisor/${record.id}/configuration?${query}`, {
      headers: { authorization: `Bearer ${deadline?.attempt ?? ""}`, "x-slipway-run": String(run) },
    });
    // The question itself is on no clock.
    while (reads() === 0) await new Promise((resolve) => setImmediate(resolve));
    await it.driven.run(1000);
    it.server.ledger.reset();
    await it.driven.run(20_000);
    expect(reads()).toBe(0);
    const broken = it.server.faults.inject({
      fault: { kind: "status", code: 503 },
      when: ({ verb, plural }) => verb === "watch" && plural === "sandboxrecords",
    });
    it.server.cutWatches();
    await it.driven.run(10_000);
    expect(reads()).toBeGreaterThanOrEqual(9);
    expect(reads()).toBeLessThanOrEqual(10);
    broken[Symbol.dispose]();
    await it.driven.run(60_000);
    expect((await held).status).toBe(204);
  });
});

describe("gateways with records in the cluster", () => {
  it("hear of one another's writes at once, and tell whoever follows them", async () => {
    await using it = await startWorld("0.5.6", "cluster");
    const [one, other] = [await it.gateway(), await it.gateway()];
    await it.driven.run(1000);
    const told: string[] = [];
    other.core.hub.subscribe(({ record }) => void told.push(record?.phase ?? "removed"));
    const { record } = await it.during(one.core.create({ name: "box", spec: SPEC, policy: { version: 1 } }));
    await it.driven.run(500);
    expect(told).toContain("Provisioning");
    await it.until("box", "Ready");
    await it.during(one.core.deleteSandbox(record.id));
    await it.driven.run(60_000, () => told.includes("removed"));
    // Of writes in a row the latest.
    expect([...new Set(told)].filter((phase) => phase !== "Deleting")).toEqual([
      "Provisioning",
      "Ready",
      "removed",
    ]);
    expect(other.core.hub.hasTold(record.id, 1)).toBe(false);
  });
});
