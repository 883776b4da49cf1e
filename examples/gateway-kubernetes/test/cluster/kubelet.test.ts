import { describe, expect, it } from "vitest";
import { at } from "../apiserver/object.js";
import { box, make, pod, SLOW_TO_STOP, start, told, turn } from "./cluster-kit.js";

describe("a pod", () => {
  it("that is deleted shows Failed with its exit code before it goes, within its grace", async () => {
    const { cluster, pass } = await start("0.5.6", { onTerm: null });
    make(cluster);
    await pass(1_000);
    const seen: unknown[] = [];
    cluster.handle.registry.store.subscribe(({ resource, object, deleted }) => {
      if (resource === "pods")
        seen.push([deleted, at(object, "status.phase"), object.metadata.deletionGracePeriodSeconds]);
    });
    turn(cluster, false);
    await pass(29_000);
    expect(seen).toEqual([[false, "Running", 30]]);
    await pass(2_000);
    expect(seen.slice(1)).toEqual([
      [false, "Failed", 30],
      [true, "Failed", 30],
    ]);
  });

  it("that ends is Succeeded or Failed by its exit code, and is not run again", async () => {
    const { cluster, pass } = await start("0.5.6", { exitAfterMs: 3_000, exitCode: 3 });
    make(cluster);
    await pass(10_000);
    expect(at(pod(cluster), "status.phase")).toBe("Failed");
    const [status] = pod(cluster)?.status?.["containerStatuses"] as { state: object; restartCount: number }[];
    expect(status).toMatchObject({
      restartCount: 0,
      state: { terminated: { exitCode: 3, reason: "Error" } },
    });
    expect(told(box(cluster))).toContain("Finished=True/PodFailed");
    await pass(600_000);
    expect(at(pod(cluster), "status.phase")).toBe("Failed");
  });

  it("keeps Ready's reason in 0.4.6 after it ended", async () => {
    const { cluster, pass } = await start("0.4.6", { exitAfterMs: 3_000 });
    make(cluster);
    await pass(10_000);
    expect(told(box(cluster))).toEqual(["Finished=True/PodSucceeded", "Ready=False/DependenciesNotReady"]);
  });

  it("with restartPolicy Always loops with a growing backoff", async () => {
    const { cluster, pass } = await start("0.5.6", { exitAfterMs: 1_000, exitCode: 1 });
    make(cluster, { podTemplate: { spec: { containers: [{ name: "main", image: "busybox" }] } } });
    await pass(8_000);
    const [status] = pod(cluster)?.status?.["containerStatuses"] as object[];
    expect(status).toMatchObject({
      restartCount: 2,
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 1 } },
    });
    expect(at(pod(cluster), "status.phase")).toBe("Running");
  });

  it.each([
    ["Never", ["ErrImageNeverPull"]],
    ["IfNotPresent", ["ErrImagePull", "ImagePullBackOff"]],
  ])("without its image and policy %s waits with %j until it is there", async (imagePullPolicy, reasons) => {
    const images = new Set<string>();
    const { cluster, pass } = await start("0.5.6", {}, { images });
    const seen = new Set<unknown>();
    cluster.handle.registry.store.subscribe(({ object }) => {
      const [status] = (object.status?.["containerStatuses"] ?? []) as object[];
      const reason = at(status, "state.waiting.reason");
      if (reason !== "ContainerCreating" && reason !== undefined) seen.add(reason);
    });
    make(cluster, {
      podTemplate: {
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "own", imagePullPolicy }] },
      },
    });
    await pass(60_000);
    expect([...seen]).toEqual(reasons);
    expect(at(pod(cluster), "status.phase")).toBe("Pending");
    images.add("own");
    await pass(300_000);
    expect(at(pod(cluster), "status.phase")).toBe("Running");
  });

  it("that no node takes is Pending with the scheduler's reason, which 0.5.6 mirrors", async () => {
    const { cluster, pass } = await start("0.5.6");
    cluster.kubelet.scheduler.unschedulable = () => "0/1 nodes are available";
    make(cluster);
    await pass(1_000);
    expect(told(box(cluster))).toContain("PodScheduled=False/Unschedulable");
    expect(cluster.handle.list("events").map((event) => event["reason"])).toEqual(["FailedScheduling"]);
  });

  it("waits for its claim to be bound", async () => {
    const { cluster, pass } = await start("0.5.6");
    cluster.volumes.holdsBack = () => true;
    make(cluster);
    await pass(1_000);
    expect(at(pod(cluster), "status.phase")).toBe("Pending");
    cluster.volumes.holdsBack = () => false;
    cluster.handle.registry.force(
      cluster.handle.target("persistentvolumeclaims", "default", "workspace-box"),
      (object) => {
        object.metadata.labels = { touched: "yes" };
      },
    );
    await pass(1_000);
    expect(at(pod(cluster), "status.phase")).toBe("Running");
  });

  it("that is evicted is Failed with the pod's own reason", async () => {
    const { cluster, pass } = await start("0.5.6");
    make(cluster);
    await pass(1_000);
    cluster.kubelet.fail(
      "default",
      "box",
      "Evicted",
      "The node was low on resource: memory.",
      "TerminationByKubelet",
    );
    await pass(1_000);
    expect(pod(cluster)?.status).toMatchObject({ phase: "Failed", reason: "Evicted" });
    expect(told(pod(cluster))).toContain("DisruptionTarget=True/TerminationByKubelet");
  });
});

describe("a node", () => {
  it("that reboots has failed what may not be restarted, with exit code 255", async () => {
    const { cluster, pass } = await start("0.5.6");
    make(cluster);
    await pass(1_000);
    cluster.kubelet.reboot(60_000);
    await pass(30_000);
    expect(at(pod(cluster), "status.phase")).toBe("Running");
    await pass(40_000);
    expect(at(pod(cluster), "status.phase")).toBe("Failed");
    const [status] = pod(cluster)?.status?.["containerStatuses"] as object[];
    expect(status).toMatchObject({ state: { terminated: { exitCode: 255, reason: "Unknown" } } });
    expect(told(box(cluster))).toContain("Finished=True/PodFailed");
  });

  it("that reboots while pods terminate lets them go afterwards", async () => {
    const { cluster, pass } = await start("0.5.6", SLOW_TO_STOP);
    make(cluster);
    await pass(1_000);
    turn(cluster, false);
    await pass(1_000);
    cluster.kubelet.reboot(60_000);
    await pass(70_000);
    expect(pod(cluster)).toBeNull();
    expect(told(box(cluster))).toContain("Suspended=True/PodTerminated");
  });

  it("that reboots during a pull begins it again", async () => {
    const images = new Set<string>();
    const { cluster, pass } = await start("0.5.6", {}, { images });
    make(cluster);
    await pass(5_000);
    cluster.kubelet.reboot(1_000);
    images.add("busybox");
    await pass(5_000);
    expect(at(pod(cluster), "status.phase")).toBe("Running");
  });

  it("kills sooner when a second deletion shortens the grace", async () => {
    const { cluster, pass } = await start("0.5.6", { onTerm: null });
    make(cluster);
    await pass(1_000);
    const target = cluster.handle.target("pods", "default", "box");
    cluster.controller.stop();
    cluster.handle.registry.delete(target);
    await pass(5_000);
    expect(pod(cluster)).not.toBeNull();
    cluster.handle.registry.delete(target, { gracePeriodSeconds: 2 });
    await pass(3_000);
    expect(pod(cluster)).toBeNull();
  });

  it("that is silent reports what ended meanwhile when it speaks again", async () => {
    const { cluster, pass } = await start("0.5.6", { exitAfterMs: 5_000 });
    make(cluster);
    await pass(1_000);
    cluster.kubelet.stop();
    await pass(10_000);
    expect(at(pod(cluster), "status.phase")).toBe("Running");
    cluster.kubelet.start();
    await pass(1_000);
    expect(at(pod(cluster), "status.phase")).toBe("Succeeded");
  });
});
