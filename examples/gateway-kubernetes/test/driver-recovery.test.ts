import { derivePhase, type SandboxRecord } from "slipway/phase";
import { describe, expect, it } from "vitest";
import { BOOTSTRAP_KEY } from "../src/resource/names.js";
import { SANDBOX_VERSIONS, wantsRun } from "../src/resource/sandbox-api.js";
import { launchRequest, REF, RELEASE_OF, startDriver } from "./driver-kit.js";

describe.each(SANDBOX_VERSIONS)("a driver of %s, when it is disturbed", (version) => {
  const release = RELEASE_OF[version];

  it("takes up a start where a gateway that died left it, wherever that was", async () => {
    for (let written = 1; written <= 5; written += 1) {
      await using it = await startDriver(release);
      const dying = new AbortController();
      let writes = 0;
      it.server.faults.inject({
        fault: { kind: "cut", when: "after" },
        times: 1,
        when: ({ verb }) => {
          if (!["create", "patch"].includes(verb)) return false;
          writes += 1;
          if (writes !== written) return false;
          dying.abort(new Error("killed"));
          return true;
        },
      });
      const request = launchRequest(1);
      const lost = it.driver.launch(request, { signal: dying.signal, report: () => undefined });
      await it.during(lost.catch(() => undefined));
      const next = it.make(99);
      await it.during(it.launch(1, next));
      expect(await it.observe(1, next)).toMatchObject({ running: true, bootstrapping: false, stale: false });
      expect(it.pods()).toHaveLength(1);
      expect(it.secrets()).toHaveLength(1);
    }
  });

  it("goes on when somebody suspends the resource in the middle of a start (a dependency that failed)", async () => {
    await using it = await startDriver(release, { pullMs: 20_000 });
    const launched = it.launch(1);
    launched.catch(() => undefined);
    await it.driven.run(5000, () => it.pods().length > 0);
    await it.suspend(version);
    await it.during(launched);
    expect(await it.observe(1)).toMatchObject({ running: true, bootstrapping: false });
  });

  it("gives way to a stop that comes in the middle, and leaves nothing that looks like a start", async () => {
    await using it = await startDriver(release, { pullMs: 20_000 });
    const launched = it.launch(1).catch((error: unknown) => error);
    await it.driven.run(5000, () => it.pods().length > 0);
    await it.during(it.driver.stop(REF, { signal: it.signal }));
    expect(await it.during(launched)).toMatchObject({ name: "OvertakenError" });
    expect(it.sandbox()?.metadata.annotations?.[BOOTSTRAP_KEY]).toBeUndefined();
    expect(await it.observe(1)).toMatchObject({ suspended: true, bootstrapping: false });
  });

  it.each([3_600_000, -3_600_000])(
    "judges by the cluster's clock what the cluster dated (%i ms off)",
    async (skew) => {
      await using it = await startDriver(release, {
        runtime: undefined,
      } as never);
      it.server.clockSkewMs = skew;
      await it.during(it.launch(1));
      const startedAt = it.clock.now();
      const run = { instanceId: "instance-1", desired: "running", startRequestedAt: startedAt } as const;
      const seen = await it.driver.observe(REF, run, null, { signal: it.signal });
      expect(seen).toMatchObject({ running: true, stale: false });
      expect(Math.abs((seen.observedAt ?? 0) - it.clock.now())).toBeLessThan(1000);
      it.node.kubelet.fail("slipway", REF.name, "Evicted", "low on memory");
      await it.driven.run(500);
      expect(await it.driver.observe(REF, run, null, { signal: it.signal })).toMatchObject({
        completed: true,
        stale: false,
        failureReason: "Evicted",
      });
      await it.during(it.launch(2));
      const stopping = it.driver.stop(REF, { signal: it.signal });
      stopping.catch(() => undefined);
      await it.during(stopping);
      expect(await it.observe(2)).toMatchObject({ suspended: true });
    },
  );

  it("sees an empty backend for what it is, so that a record that says Provisioning becomes Stopped", async () => {
    await using it = await startDriver(release);
    await it.during(it.launch(1));
    await it.suspend(version);
    await it.driven.run(20_000);
    const now = it.clock.now();
    const record: SandboxRecord = {
      phase: "Provisioning",
      desired: "running",
      since: now - 60_000,
      instanceId: "instance-1",
    };
    const observation = await it.observe(1);
    expect(derivePhase({ record, observation, now: it.clock.now() })).toMatchObject({
      phase: "Stopped",
      reason: "BackendEmpty",
    });
    expect(wantsRun(version, it.sandbox() as never)).toBe(false);
    await it.during(it.launch(1));
    expect(await it.observe(1)).toMatchObject({ running: true });
  });

  it("comes up after a reboot of the node in which everything restarts in any order", async () => {
    await using it = await startDriver(release, { pullMs: 4000 });
    const launched = it.launch(1).catch((error: unknown) => error);
    await it.driven.run(5000, () => it.pods().length > 0);
    it.node.controller.stop();
    await it.server.close();
    it.node.kubelet.reboot(30_000);
    await it.driven.run(45_000);
    await it.server.listen();
    it.node.controller.start();
    const outcome = await it.during(launched, 600_000);
    const next = it.make(5);
    if (outcome instanceof Error) await it.during(it.launch(1, next), 600_000);
    expect(await it.observe(1, next)).toMatchObject({ bootstrapping: false, stale: false, exists: true });
    await it.during(it.launch(2, next));
    expect(await it.observe(2, next)).toMatchObject({ running: true });
    expect(it.pods()).toHaveLength(1);
  });
});
