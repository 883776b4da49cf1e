import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { KubeObject } from "./apiserver/index.js";
import { conditionsOf } from "./cluster/conditions.js";
import { SPEC, tempDirs } from "./gateway-kit.js";
import { startWorld } from "./gateway-world.js";
import { NAMESPACE } from "./kit.js";

const open: AsyncDisposable[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

afterAll(() => tempDirs.remove());

type World = Awaited<ReturnType<typeof startWorld>>;

async function world(...args: Parameters<typeof startWorld>): Promise<World> {
  const started = await startWorld(...args);
  open.push(started);
  return started;
}

function podOf(it: World): KubeObject {
  const [pod] = it.node.handle.list("pods", NAMESPACE);
  if (pod === undefined) throw new Error("there is no pod");
  return pod;
}

/** Deletes the pod, as an eviction, the taint manager or a person does. */
function deletePod(it: World, { by, grace }: { by: string | null; grace?: number }): void {
  const { handle } = it.node;
  const pod = podOf(it);
  if (by !== null) {
    handle.registry.force(handle.target("pods", NAMESPACE, pod.metadata.name), (object) => {
      const lastTransitionTime = handle.stamp();
      const target = {
        type: "DisruptionTarget",
        status: "True",
        reason: by,
        message: by,
        lastTransitionTime,
      };
      object.status = { ...object.status, conditions: [...conditionsOf(object.status), target] } as never;
    });
  }
  handle.delete("pods", pod, grace);
}

async function ready(release: Parameters<typeof startWorld>[0]): Promise<World> {
  const it = await world(release, "cluster");
  await it.gateway();
  await it.during(it.core().create({ name: "box", spec: SPEC, policy: { version: 1 } }));
  await it.until("box", "Ready");
  return it;
}

/** It has ended as an error, nothing was started a second time, and an explicit start goes on with the same claim. */
async function isOver(it: World, reason: RegExp): Promise<void> {
  const claim = it.claim("box");
  await it.until("box", reason);
  await it.driven.run(30_000);
  expect(await it.phase("box")).toMatch(reason);
  expect([...it.runtime.started.values()]).toEqual([1]);
  await it.during(it.core().startSandbox(await it.id("box")));
  await it.until("box", "Ready");
  expect([...it.runtime.started.values()]).toEqual([1, 1]);
  expect(it.claim("box")).toBe(claim);
}

describe("a pod that goes while its workload runs, and that the controller replaces", {
  timeout: 120_000,
}, () => {
  it.each([
    ["a drain", "0.5.6", { by: "EvictionByEvictionAPI" }],
    ["a drain", "0.4.6", { by: "EvictionByEvictionAPI" }],
    ["a preemption", "0.5.6", { by: "PreemptionByScheduler" }],
    ["a person", "0.5.6", { by: null }],
    ["force", "0.5.6", { by: null, grace: 0 }],
  ] as const)("by %s (%s) is an error and no success, and is not replayed", async (_by, release, how) => {
    const it = await ready(release);
    deletePod(it, how);
    await isOver(it, /^Error\/(Killed|Evicted|Preempted)$/);
  });
});

describe("a pod that its node ends", { timeout: 120_000 }, () => {
  it.each([
    ["Evicted", "TerminationByKubelet", "Evicted"],
    ["Terminated", "TerminationByKubelet", "NodeShutdown"],
    ["Preempting", undefined, "Preempted"],
  ] as const)("as %s says so in its record", async (reason, disruption, known) => {
    const it = await ready("0.5.6");
    it.node.kubelet.fail(NAMESPACE, "box", reason, "low on memory", disruption);
    await isOver(it, new RegExp(`^Error/${known}$`));
  });

  it("and that cannot be told of is Unknown, until it is known to be gone", async () => {
    const it = await ready("0.5.6");
    it.node.kubelet.stop();
    deletePod(it, { by: "DeletionByTaintManager" });
    await it.until("box", "Unknown/NodeLost");
    await it.driven.run(120_000);
    expect(await it.phase("box")).toBe("Unknown/NodeLost");
    it.node.kubelet.start();
    await isOver(it, /^Error\/Killed$/);
  });

  it("and that hangs while it goes does not keep its sandbox from being stopped, once somebody lets it go", async () => {
    const it = await ready("0.5.6");
    it.node.kubelet.stop();
    deletePod(it, { by: "DeletionByTaintManager" });
    await it.until("box", "Unknown/NodeLost");
    await it.during(it.core().stopSandbox(await it.id("box")));
    await it.driven.run(60_000);
    expect(await it.phase("box")).toMatch(/^Stopping/);
    it.node.handle.delete("pods", podOf(it), 0);
    await it.until("box", "Stopped");
    it.node.kubelet.start();
    await it.during(it.core().startSandbox(await it.id("box")));
    await it.until("box", "Ready");
  });
});

describe("a pod that goes while its supervisor waits for a gateway", { timeout: 120_000 }, () => {
  it.each([
    ["a drain", "0.5.6", { by: "EvictionByEvictionAPI" }],
    ["a drain", "0.4.6", { by: "EvictionByEvictionAPI" }],
    ["force", "0.5.6", { by: null, grace: 0 }],
  ] as const)("by %s (%s) ends no attempt: the next pod goes on with it", async (_by, release, how) => {
    const it = await world(release, "cluster");
    const gateway = await it.gateway();
    // Supervisors hear nobody.
    it.replicas.splice(0);
    const { record } = await it.during(
      gateway.core.create({ name: "box", spec: SPEC, policy: { version: 1 } }),
    );
    await it.driven.run(10_000);
    const claim = it.claim("box");
    const { uid } = podOf(it).metadata;
    deletePod(it, how);
    await it.driven.run(30_000);
    expect(podOf(it).metadata.uid).not.toBe(uid);
    it.replicas.push(gateway);
    await it.until("box", "Ready");
    const after = (await it.during(gateway.core.records.read(record.id)))?.record;
    expect(after?.attemptNumber).toBe(record.attemptNumber);
    expect([...it.runtime.started.values()]).toEqual([1]);
    expect(it.claim("box")).toBe(claim);
  });

  it("and that is seen to have failed while it goes ends none either", async () => {
    const it = await world("0.5.6", "cluster");
    const gateway = await it.gateway();
    it.replicas.splice(0);
    const { record } = await it.during(
      gateway.core.create({ name: "box", spec: SPEC, policy: { version: 1 } }),
    );
    await it.driven.run(10_000);
    const { handle } = it.node;
    const hold = (finalizers: string[]): void =>
      void handle.registry.force(handle.target("pods", NAMESPACE, "box"), ({ metadata }) => {
        if (finalizers.length > 0) metadata.finalizers = finalizers;
        else Reflect.deleteProperty(metadata, "finalizers");
      });
    hold(["example.com/hold"]);
    const { uid } = podOf(it).metadata;
    deletePod(it, { by: "EvictionByEvictionAPI" });
    it.node.kubelet.fail(NAMESPACE, "box", "Terminated", "the node goes down", "TerminationByKubelet");
    await it.driven.run(30_000);
    expect(podOf(it)).toMatchObject({ metadata: { uid }, status: { phase: "Failed" } });
    const held = (await it.during(gateway.core.records.read(record.id)))?.record;
    expect(held).toMatchObject({ phase: "Provisioning", deadline: { status: "active" } });
    hold([]);
    await it.driven.run(10_000);
    it.replicas.push(gateway);
    await it.until("box", "Ready");
    const after = (await it.during(gateway.core.records.read(record.id)))?.record;
    expect(after?.attemptNumber).toBe(record.attemptNumber);
    expect([...it.runtime.started.values()]).toEqual([1]);
  });
});
