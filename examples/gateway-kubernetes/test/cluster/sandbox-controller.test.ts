import { describe, expect, it } from "vitest";
import { at, type KubeObject } from "../apiserver/object.js";
import { box, claim, make, pod, SLOW_TO_STOP, start, told, turn } from "./cluster-kit.js";
import { conditionsOf } from "./conditions.js";
import { SANDBOXES } from "./index.js";

describe("a sandbox that is started, suspended and resumed, by release", () => {
  it.each([
    [
      "0.4.2",
      ["Ready=True/DependenciesReady"],
      ["Ready=True/DependenciesReady"],
      ["Ready=True/DependenciesReady"],
      ["Ready=True/DependenciesReady"],
    ],
    [
      "0.4.6",
      ["Ready=True/DependenciesReady"],
      ["Ready=True/DependenciesReady"],
      ["Ready=True/DependenciesReady"],
      ["Ready=True/DependenciesReady"],
    ],
    [
      "0.5.0",
      ["Ready=True/DependenciesReady"],
      ["Ready=False/SandboxSuspended", "Suspended=False/PodNotTerminated"],
      ["Ready=False/SandboxSuspended", "Suspended=True/PodTerminated"],
      ["Ready=True/DependenciesReady", "Suspended=True/PodTerminated"],
    ],
    [
      "0.5.4",
      ["Ready=True/DependenciesReady", "Suspended=False/NotSuspended"],
      ["Ready=False/SandboxSuspended", "Suspended=False/PodTerminating"],
      ["Ready=False/SandboxSuspended", "Suspended=True/PodTerminated"],
      ["Ready=True/DependenciesReady", "Suspended=False/NotSuspended"],
    ],
    [
      "0.5.6",
      ["PodScheduled=True/PodScheduled", "Ready=True/DependenciesReady", "Suspended=False/NotSuspended"],
      ["Ready=False/SandboxSuspended", "Suspended=False/PodTerminating"],
      ["Ready=False/SandboxSuspended", "Suspended=True/PodTerminated"],
      ["PodScheduled=True/PodScheduled", "Ready=True/DependenciesReady", "Suspended=False/NotSuspended"],
    ],
  ] as const)("%s", async (release, running, stopping, stopped, resumed) => {
    const { cluster, pass } = await start(release, SLOW_TO_STOP);
    make(cluster);
    await pass(1_000);
    expect(told(box(cluster))).toEqual(running);
    const first = pod(cluster)?.metadata.uid;
    const kept = claim(cluster)?.metadata.uid;

    turn(cluster, false);
    await pass(1_000);
    expect(pod(cluster)?.metadata.deletionTimestamp).toBeDefined();
    expect(told(box(cluster))).toEqual(stopping);

    await pass(10_000);
    expect(pod(cluster)).toBeNull();
    expect(told(box(cluster))).toEqual(stopped);

    turn(cluster, true);
    await pass(1_000);
    expect(told(box(cluster))).toEqual(resumed);
    expect(pod(cluster)?.metadata.uid).not.toBe(first);
    expect(claim(cluster)?.metadata.uid).toBe(kept);
  });

  it("waits for the old pod to go when it is resumed while stopping", async () => {
    const { cluster, pass } = await start("0.5.6", SLOW_TO_STOP);
    make(cluster);
    await pass(1_000);
    const first = pod(cluster)?.metadata.uid;
    turn(cluster, false);
    await pass(1_000);
    turn(cluster, true);
    await pass(1_000);
    expect(pod(cluster)?.metadata.uid).toBe(first);
    await pass(10_000);
    expect(pod(cluster)?.metadata.uid).not.toBe(first);
    expect(at(pod(cluster), "status.phase")).toBe("Running");
  });
});

describe("the controller", () => {
  it("that was down takes up what changed meanwhile", async () => {
    const { cluster, pass } = await start("0.4.6");
    make(cluster);
    await pass(1_000);
    cluster.controller.stop();
    turn(cluster, false);
    await pass(60_000);
    expect(pod(cluster)).not.toBeNull();
    cluster.controller.start();
    await pass(1_000);
    expect(pod(cluster)).toBeNull();
  });

  it("tells an error as ReconcilerError and does nothing meanwhile", async () => {
    const { cluster, pass } = await start("0.5.6");
    cluster.controller.failure = "etcd is away";
    make(cluster);
    await pass(1_000);
    expect(pod(cluster)).toBeNull();
    expect(told(box(cluster))).toEqual(["Ready=False/ReconcilerError", "Suspended=False/NotSuspended"]);
  });

  it("leaves a pod alone that another owns, and says so from 0.5.4 on", async () => {
    const { cluster, pass } = await start("0.5.4");
    cluster.handle.create("pods", "default", {
      metadata: { name: "box" },
      spec: { containers: [{ name: "x" }] },
    });
    make(cluster, { operatingMode: "Suspended" });
    await pass(1_000);
    expect(told(box(cluster))).toContain("Suspended=False/PodNotOwned");
    expect(pod(cluster)).not.toBeNull();
  });

  it("ends an expired sandbox", async () => {
    const { cluster, clock, pass } = await start("0.5.6");
    make(cluster, { shutdownTime: new Date(clock.now() + 5_000).toISOString() });
    await pass(1_000);
    expect(pod(cluster)).not.toBeNull();
    await pass(10_000);
    expect(pod(cluster)).toBeNull();
    expect(told(box(cluster))).toEqual(["Ready=False/SandboxExpired"]);
  });

  it("freezes the conditions of a sandbox that is being deleted; its pod and claim go with it", async () => {
    const { cluster, pass } = await start("0.5.6", SLOW_TO_STOP);
    make(cluster);
    await pass(1_000);
    const before = told(box(cluster));
    const target = cluster.handle.target(SANDBOXES, "default", "box");
    cluster.handle.registry.delete(target, { propagationPolicy: "Foreground" });
    await pass(1_000);
    expect(told(box(cluster))).toEqual(before);
    expect(pod(cluster)?.metadata.deletionTimestamp).toBeDefined();
    // The claim is in use until the pod has ended.
    expect(claim(cluster)?.metadata.deletionTimestamp).toBeDefined();
    await pass(10_000);
    expect([box(cluster), pod(cluster), claim(cluster)]).toEqual([null, null, null]);
  });

  it("shows a v1alpha1 reader the replicas of an operating mode", async () => {
    const { cluster, pass } = await start("0.5.6");
    make(cluster);
    await pass(1_000);
    const alpha = cluster.handle.registry.find("agents.x-k8s.io", "v1alpha1", "sandboxes");
    if (alpha === undefined) throw new Error("v1alpha1 is not served");
    const read = (): KubeObject =>
      cluster.handle.registry.get({ resource: alpha, namespace: "default", name: "box" });
    expect(read()).toMatchObject({
      apiVersion: "agents.x-k8s.io/v1alpha1",
      spec: { replicas: 1 },
      status: { replicas: 1 },
    });
    turn(cluster, false);
    await pass(1_000);
    expect(read().spec).not.toHaveProperty("operatingMode");
    expect(read()).toMatchObject({ spec: { replicas: 0 }, status: { replicas: 0 } });
    expect(conditionsOf(read().status).map((one) => one.reason)).toEqual([
      "SandboxSuspended",
      "PodTerminated",
    ]);

    // What a v1alpha1 writer saves once is shown from then on, whatever becomes of the sandbox.
    const target = { resource: alpha, namespace: "default", name: "box" };
    cluster.handle.registry.patch(target, "application/merge-patch+json", { spec: { replicas: 1 } });
    await pass(1_000);
    expect(read()).toMatchObject({ spec: { replicas: 1 }, status: { replicas: 0 } });
  });
});
