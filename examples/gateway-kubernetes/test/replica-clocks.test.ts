import { afterAll, describe, expect, it } from "vitest";
import { SPEC, tempDirs, type Replica } from "./gateway-kit.js";
import { startWorld } from "./gateway-world.js";

afterAll(() => tempDirs.remove());

const MINUTE = 60_000;
const BUDGET = { preparationMs: 10 * MINUTE };
const CREATE = { name: "box", spec: SPEC, policy: { version: 1 } };
/** An answer of the server is dated to the second, and gateways look every two seconds at most. */
const WITHIN_MS = 3500;

/** Fine enough for a gateway that asks for the time when a second begins. */
const FINE = { stepMs: 20 };
/** What is open of the cluster's time at the start. */
const UNCERTAIN_MS = 100;

/** Supervisors that reach nobody: only a deadline ends the wait for them. */
const silent = { route: () => null };

describe("gateways with records in the cluster, on hosts whose clocks are minutes apart", () => {
  it("have one time, which is the cluster's, and which never runs backwards", async () => {
    await using it = await startWorld("0.5.6", "cluster", silent);
    it.server.clockSkewMs = 7 * MINUTE;
    const replicas = [
      await it.gateway({ aheadMs: 5 * MINUTE, ...FINE }),
      await it.gateway({ aheadMs: -5 * MINUTE, ...FINE }),
    ];
    const error = (at: number): number => Math.abs(at - (it.clock.now() + 7 * MINUTE));
    // Half of what is open, and what a step of the test takes.
    for (const { core } of replicas) expect(error(core.clock.now())).toBeLessThan(UNCERTAIN_MS / 2 + 20);
    let latest = replicas.map(({ core }) => core.clock.now());
    for (let second = 0; second < 60; second += 1) {
      await it.driven.run(1000);
      const now = replicas.map(({ core }) => core.clock.now());
      for (const [index, at] of now.entries()) expect(at).toBeGreaterThanOrEqual(latest[index] ?? 0);
      latest = now;
    }
    for (const at of latest) expect(error(at)).toBeLessThan(UNCERTAIN_MS / 2 + 20);
  });

  it("follow no answer that is dated an hour off, as by one server of three whose clock is wrong", async () => {
    await using it = await startWorld("0.5.6", "cluster", silent);
    const { core } = await it.gateway({ budgets: BUDGET, ...FINE });
    await it.during(core.create(CREATE));
    await it.driven.run(5000);
    for (let second = 0; second < 60; second += 1) {
      it.server.clockSkewMs = second % 3 === 0 ? 60 * MINUTE : 0;
      await it.driven.run(1000);
      expect(Math.abs(core.clock.now() - it.clock.now())).toBeLessThan(1000);
    }
    expect(await it.phase("box")).toMatch(/^Provisioning/);
  });

  it.each([
    ["the one that is ahead", 5 * MINUTE, -5 * MINUTE],
    ["the one that is behind", -5 * MINUTE, 5 * MINUTE],
  ])(
    "expire a deadline at its instant and not before, when %s set it and the other one is left",
    async (_who, first, second) => {
      await using it = await startWorld("0.5.6", "cluster", silent);
      const one = await it.gateway({ aheadMs: first, budgets: BUDGET });
      const begunAt = it.clock.now();
      await it.during(one.core.create(CREATE));
      await it.gateway({ aheadMs: second, budgets: BUDGET });
      await it.driven.run(MINUTE);
      await it.kill(one);
      const left = BUDGET.preparationMs - (it.clock.now() - begunAt);
      await it.driven.run(left - WITHIN_MS, undefined, 1000);
      expect(await it.phase("box")).toMatch(/^Provisioning/);
      await it.driven.run(2 * WITHIN_MS);
      expect(await it.phase("box")).toMatch(/^Error\/.*TimedOut/);
    },
  );

  it("extend no deadline: whoever starts anew with a clock that is behind takes none back", async () => {
    await using it = await startWorld("0.5.6", "cluster", silent);
    const one = await it.gateway({ aheadMs: 0, budgets: BUDGET, ...FINE });
    const { record } = await it.during(one.core.create(CREATE));
    let replica: Replica = one;
    for (const aheadMs of [-9 * MINUTE, 9 * MINUTE, -9 * MINUTE]) {
      await it.kill(replica);
      replica = await it.gateway({ aheadMs, budgets: BUDGET, ...FINE });
      await it.driven.run(MINUTE, undefined, 500);
    }
    const found = await it.during(it.core().records.findByName("box"));
    const startedAt = found?.record.deadline?.startedAt ?? 0;
    const setAt = record.deadline?.startedAt ?? 0;
    expect(Math.abs(startedAt - setAt)).toBeLessThan(3 * UNCERTAIN_MS);
    const passed = it.clock.now() - record.createdAt;
    await it.driven.run(BUDGET.preparationMs - passed - WITHIN_MS, undefined, 1000);
    expect(await it.phase("box")).toMatch(/^Provisioning/);
    await it.driven.run(2 * WITHIN_MS);
    expect(await it.phase("box")).toMatch(/^Error\/.*TimedOut/);
  });

  it("steal no lease: work that one does, however long it takes, is done once", async () => {
    const pullMs = 4 * MINUTE;
    await using it = await startWorld("0.5.6", "cluster", { pullMs });
    const one = await it.gateway({ aheadMs: -5 * MINUTE });
    await it.during(one.core.create(CREATE));
    await it.driven.run(1000);
    await it.gateway({ aheadMs: 5 * MINUTE });
    await it.until("box", "Ready");
    expect(it.logged.filter((line) => line.startsWith("launch "))).toHaveLength(1);
    expect(it.logged.filter((line) => line.startsWith("adopted "))).toHaveLength(0);
    const found = await it.during(it.core().records.findByName("box"));
    expect(found?.record.run).toBe(1);
    expect(it.runtime.mostLive).toBe(1);
  });
});
