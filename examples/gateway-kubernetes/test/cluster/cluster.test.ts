import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "slipway";
import { seededRandom, VirtualClock } from "slipway/testing";
import { afterEach, describe, expect, it } from "vitest";
import { at, type KubeObject } from "../apiserver/object.js";
import { conditionsOf } from "./conditions.js";
import {
  Cluster,
  ProcessRuntime,
  SANDBOXES,
  ScriptedRuntime,
  type ClusterOptions,
  type Script,
} from "./index.js";
import type { Release } from "./releases.js";

let open: Cluster | undefined;
afterEach(async () => {
  await open?.[Symbol.asyncDispose]();
  open = undefined;
});

interface Parts {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  /** Lets time pass in steps, and everything that it sets off. */
  pass(ms: number): Promise<void>;
}

async function start(release: Release, script?: Script, more: Partial<ClusterOptions> = {}): Promise<Parts> {
  const clock = new VirtualClock();
  const runtime = new ScriptedRuntime(clock, () => script ?? {});
  const cluster = await Cluster.start({ clock, random: seededRandom(3), release, runtime, ...more });
  open = cluster;
  const pass = async (ms: number): Promise<void> => {
    await new Promise((resume) => setImmediate(resume));
    for (let step = 0; step < 10; step += 1) {
      clock.advance(ms / 10);
      await new Promise((resume) => setImmediate(resume));
    }
  };
  return { cluster, clock, pass };
}

function make(cluster: Cluster, spec: object = {}): void {
  const version = cluster.handle.registry.find("agents.x-k8s.io", "v1beta1", "sandboxes")
    ? "v1beta1"
    : "v1alpha1";
  cluster.server.apply({
    apiVersion: `agents.x-k8s.io/${version}`,
    kind: "Sandbox",
    metadata: { name: "box" },
    spec: {
      podTemplate: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } },
      volumeClaimTemplates: [{ metadata: { name: "workspace" }, spec: { accessModes: ["ReadWriteOnce"] } }],
      ...spec,
    },
  });
}

const box = (cluster: Cluster): KubeObject | null => cluster.handle.find(SANDBOXES, "default", "box");
const pod = (cluster: Cluster): KubeObject | null => cluster.handle.find("pods", "default", "box");
const claim = (cluster: Cluster): KubeObject | null =>
  cluster.handle.find("persistentvolumeclaims", "default", "workspace-box");

/** `Ready=True/DependenciesReady`, sorted. */
function told(object: KubeObject | null): string[] {
  return conditionsOf(object?.status)
    .map(({ type, status, reason }) => `${type}=${status}/${reason ?? ""}`)
    .sort();
}

function turn(cluster: Cluster, on: boolean): void {
  const target = cluster.handle.target(SANDBOXES, "default", "box");
  const alpha = target.resource.version === "v1alpha1";
  cluster.handle.registry.patch(target, "application/merge-patch+json", {
    spec: alpha ? { replicas: on ? 1 : 0 } : { operatingMode: on ? "Running" : "Suspended" },
  });
}

const SLOW_TO_STOP: Script = { onTerm: { afterMs: 5_000, code: 143 } };

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

describe("containers as processes", () => {
  it("run for real, write into their claim and are ended by SIGTERM", async () => {
    const root = mkdtempSync(join(tmpdir(), "slipway-volumes-"));
    try {
      const options = {
        clock: systemClock,
        random: seededRandom(3),
        release: "0.5.6",
        runtime: new ProcessRuntime(),
        volumesRoot: root,
      } as const;
      await using cluster = await Cluster.start(options);
      const ended = new Promise<KubeObject>((resolve) => {
        cluster.handle.registry.store.subscribe(({ resource, object }) => {
          if (resource !== "pods") return;
          const folder = cluster.volumes.folder(claim(cluster));
          const phase = at(object, "status.phase");
          if (phase === "Failed") resolve(object);
          else if (
            phase === "Running" &&
            object.metadata.deletionTimestamp === undefined &&
            written(folder)
          ) {
            queueMicrotask(() => turn(cluster, false));
          }
        });
      });
      const command = ["sh", "-c", 'echo kept > "$SLIPWAY_VOLUME_WORKSPACE/sentinel"; exec sleep 600'];
      make(cluster, {
        podTemplate: { spec: { restartPolicy: "Never", containers: [{ name: "main", command }] } },
      });
      // The sentinel is written after the report of the start: touch the pod until it is there.
      const touch = setInterval(() => {
        const found = pod(cluster);
        if (found === null) return;
        cluster.handle.registry.force(cluster.handle.target("pods", "default", "box"), (object) => {
          object.metadata.annotations = { touched: String(process.hrtime.bigint()) };
        });
      }, 20);
      const last = await ended;
      clearInterval(touch);
      const [status] = last.status?.["containerStatuses"] as object[];
      expect(status).toMatchObject({ state: { terminated: { exitCode: 143 } } });
      expect(readFileSync(join(cluster.volumes.folder(claim(cluster)), "sentinel"), "utf8")).toBe("kept\n");
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

function written(folder: string): boolean {
  try {
    return readFileSync(join(folder, "sentinel"), "utf8") === "kept\n";
  } catch {
    return false;
  }
}
