import { afterAll, describe, expect, it } from "vitest";
import { SPEC, tempDirs } from "./gateway-kit.js";
import { startWorld, STORES } from "./gateway-world.js";

afterAll(() => tempDirs.remove());

const CREATE = { name: "box", spec: SPEC, policy: { version: 1 } };

describe.each(STORES)("a whole gateway, records in %s", { timeout: 240_000 }, (store) => {
  it("outlasts an API server that is away for ten minutes, asks it rarely, and starts nothing twice", async () => {
    await using it = await startWorld("0.5.6", store);
    const { core } = await it.gateway();
    const { record } = await it.during(core.create(CREATE));
    await it.until("box", "Ready");
    const pod = it.node.handle.list("pods")[0]?.metadata.uid;
    await it.server.close();
    const before = it.asked;
    await it.driven.run(600_000, undefined, 1000);
    // One for all, at growing distances up to half a minute, and what its supervisor asks of it meanwhile.
    expect(it.asked - before).toBeLessThan(80);
    await it.server.listen();
    await it.driven.run(60_000);
    expect(await it.phase("box")).toMatch(/^Ready/);
    expect(it.node.handle.list("pods")[0]?.metadata.uid).toBe(pod);
    await it.during(core.stopSandbox(record.id));
    await it.until("box", "Stopped");
    await it.during(core.startSandbox(record.id));
    await it.until("box", "Ready");
    expect([...it.runtime.started.values()]).toEqual([1, 1]);
    expect(it.runtime.mostLive).toBe(1);
  });

  it("works on while every watch is cut each second and every version that it would resume from is gone", async () => {
    await using it = await startWorld("0.5.6", store);
    it.server.cutWatchesAfterMs = 1000;
    it.server.compactOnWrite = true;
    const { core } = await it.gateway();
    const { record } = await it.during(core.create(CREATE));
    await it.until("box", "Ready");
    for (let round = 0; round < 3; round += 1) {
      await it.during(core.stopSandbox(record.id));
      await it.until("box", "Stopped");
      await it.during(core.startSandbox(record.id));
      await it.until("box", "Ready");
    }
    for (const count of it.runtime.started.values()) expect(count).toBe(1);
    expect(it.runtime.mostLive).toBe(1);
    // At rest the storm goes on, and costs a watch a second for each of what is followed, at most.
    it.server.ledger.reset();
    await it.driven.run(120_000, undefined, 500);
    expect(it.server.ledger.requests).toBeLessThan(3 * 120 + 60);
  });

  it.each([3_600_000, -3_600_000])(
    "takes a cluster whose clock is %i ms off for what it is",
    async (skew) => {
      await using it = await startWorld("0.5.6", store);
      it.server.clockSkewMs = skew;
      const { core } = await it.gateway();
      const { record } = await it.during(core.create(CREATE));
      await it.until("box", "Ready");
      await it.driven.run(60_000);
      expect(await it.phase("box")).toMatch(/^Ready/);
      await it.during(core.stopSandbox(record.id));
      await it.until("box", "Stopped");
      await it.during(core.startSandbox(record.id));
      await it.until("box", "Ready");
      await it.suspend("v1beta1", "box");
      await it.until("box", /^Stopped|^Ready/);
      for (const count of it.runtime.started.values()) expect(count).toBe(1);
    },
  );
});
