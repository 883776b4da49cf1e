import { afterAll, afterEach, describe, expect, it } from "vitest";
import { SPEC, tempDirs } from "./gateway-kit.js";
import { startWorld, STORES } from "./gateway-world.js";
import { NAMESPACE } from "./kit.js";

const open: AsyncDisposable[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

afterAll(() => tempDirs.remove());

async function world(...args: Parameters<typeof startWorld>): ReturnType<typeof startWorld> {
  const started = await startWorld(...args);
  open.push(started);
  return started;
}

describe.each(STORES)("seed 002, records in %s", (store) => {
  it("waits in the pod for a gateway that is away for more than two minutes, and starts the workload once", async () => {
    const it = await world("0.5.6", store, { pullMs: 5000 });
    const first = await it.gateway();
    await it.during(first.core.create({ name: "box", spec: SPEC, policy: { version: 1 } }));
    await it.driven.run(3000);
    const claim = it.claim("box");
    // The pod comes up while nobody is there.
    it.replicas.splice(0);
    await it.driven.run(150_000);
    expect(it.runtime.started.size).toBe(0);
    expect(it.node.handle.list("pods", NAMESPACE)[0]?.status?.["phase"]).toBe("Running");
    it.replicas.push(first);
    await it.until("box", "Ready");
    expect([...it.runtime.started.values()]).toEqual([1]);
    expect(it.claim("box")).toBe(claim);
    expect(it.node.handle.list("pods", NAMESPACE)).toHaveLength(1);
  });
});

describe("seed 002, the gateway's process gone", () => {
  it("takes the pod up again after more than two minutes, with its records in the cluster", async () => {
    const it = await world("0.5.6", "cluster", { pullMs: 5000 });
    const first = await it.gateway();
    await it.during(first.core.create({ name: "box", spec: SPEC, policy: { version: 1 } }));
    await it.driven.run(3000);
    await it.kill(first);
    await it.driven.run(150_000);
    expect(it.runtime.started.size).toBe(0);
    await it.gateway();
    await it.until("box", "Ready");
    expect([...it.runtime.started.values()]).toEqual([1]);
    expect(it.node.handle.list("pods", NAMESPACE)).toHaveLength(1);
  });

  it("replays neither what has completed nor what was stopped", async () => {
    const it = await world("0.5.6", "cluster", { exitAfterMs: 2000 });
    const first = await it.gateway();
    await it.during(first.core.create({ name: "job", spec: SPEC, policy: { version: 1 } }));
    await it.until("job", "Completed");
    await it.kill(first);
    await it.driven.run(60_000);
    await it.gateway();
    await it.driven.run(180_000);
    expect(await it.phase("job")).toMatch(/^Completed/);
    expect([...it.runtime.started.values()]).toEqual([1]);
    await it.during(it.core().startSandbox(await it.id("job")));
    await it.until("job", "Completed");
    await it.driven.run(5000);
    expect([...it.runtime.started.values()]).toEqual([1, 1]);
  });
});

describe("people see the gateway's phase", () => {
  it("on the sandbox and on its record", async () => {
    const it = await world("0.5.6", "cluster");
    await it.gateway();
    await it.during(it.core().create({ name: "box", spec: SPEC, policy: { version: 1 } }));
    await it.until("box", "Ready");
    await it.driven.run(5000);
    const sandbox = it.node.handle.find("sandboxes.agents.x-k8s.io", NAMESPACE, "box");
    expect(sandbox?.metadata.annotations).toMatchObject({ "slipway.dev/phase": "Ready" });
    const record = it.node.handle.find("sandboxrecords.gateway.slipway.dev", NAMESPACE, "box");
    expect((record as unknown as { view: object }).view).toMatchObject({ phase: "Ready" });
  });
});
