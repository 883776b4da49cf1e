import { seededRandom, VirtualClock } from "slipway/testing";
import { onTestFinished } from "vitest";
import type { KubeObject } from "../apiserver/object.js";
import { conditionsOf } from "./conditions.js";
import { Cluster, SANDBOXES, ScriptedRuntime, type ClusterOptions, type Script } from "./index.js";
import type { Release } from "./releases.js";

interface Parts {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  /** Lets time pass in steps, and everything that it sets off. */
  pass(ms: number): Promise<void>;
}

/** A cluster in a release whose containers follow a script; it ends with the test. */
export async function start(
  release: Release,
  script?: Script,
  more: Partial<ClusterOptions> = {},
): Promise<Parts> {
  const clock = new VirtualClock();
  const runtime = new ScriptedRuntime(clock, () => script ?? {});
  const cluster = await Cluster.start({ clock, random: seededRandom(3), release, runtime, ...more });
  onTestFinished(() => cluster[Symbol.asyncDispose]());
  const pass = async (ms: number): Promise<void> => {
    await new Promise((resume) => setImmediate(resume));
    for (let step = 0; step < 10; step += 1) {
      clock.advance(ms / 10);
      await new Promise((resume) => setImmediate(resume));
    }
  };
  return { cluster, clock, pass };
}

/** Makes the one sandbox of a test. */
export function make(cluster: Cluster, spec: object = {}): void {
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

export const box = (cluster: Cluster): KubeObject | null => cluster.handle.find(SANDBOXES, "default", "box");
export const pod = (cluster: Cluster): KubeObject | null => cluster.handle.find("pods", "default", "box");
export const claim = (cluster: Cluster): KubeObject | null =>
  cluster.handle.find("persistentvolumeclaims", "default", "workspace-box");

/** `Ready=True/DependenciesReady`, sorted. */
export function told(object: KubeObject | null): string[] {
  return conditionsOf(object?.status)
    .map(({ type, status, reason }) => `${type}=${status}/${reason ?? ""}`)
    .sort();
}

/** Sets it to run, or to be suspended. */
export function turn(cluster: Cluster, on: boolean): void {
  const target = cluster.handle.target(SANDBOXES, "default", "box");
  const alpha = target.resource.version === "v1alpha1";
  cluster.handle.registry.patch(target, "application/merge-patch+json", {
    spec: alpha ? { replicas: on ? 1 : 0 } : { operatingMode: on ? "Running" : "Suspended" },
  });
}

export const SLOW_TO_STOP: Script = { onTerm: { afterMs: 5_000, code: 143 } };
