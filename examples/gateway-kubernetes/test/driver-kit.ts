import type { DriverProgress, Json, LaunchRequest } from "@slipway-examples/gateway-core";
import { seededRandom, VirtualClock } from "slipway/testing";
import type { Observation } from "slipway/phase";
import { KubernetesDriver } from "../src/driver/kubernetes-driver.js";
import { intentOf, type SandboxVersion } from "../src/resource/sandbox-api.js";
import type { KubeObject } from "./apiserver/index.js";
import { SANDBOXES, type ClusterOptions, type Release } from "./cluster/index.js";
import { Driven, NAMESPACE, SETTINGS, startNode } from "./kit.js";

export const REF = { id: "sb-1", name: "box" };

export function launchRequest(run: number, more: Partial<LaunchRequest> = {}): LaunchRequest {
  return {
    sandbox: REF,
    instance: { id: `instance-${run}`, attemptNumber: 1, run },
    image: { name: "docker.io/library/node:20" },
    command: ["node", "-e", "0"],
    options: {},
    access: { url: "https://gateway.test", token: `token-of-run-${run}` },
    ...more,
  };
}

/** The oldest release that stores a version, for tests that are not about releases. */
export const RELEASE_OF: Readonly<Record<SandboxVersion, Release>> = { v1alpha1: "0.4.6", v1beta1: "0.5.6" };

/** A driver on a cluster of stand-ins, all on one virtual clock. */
export async function startDriver(release: Release, more: Partial<ClusterOptions> = {}) {
  const clock = more.clock instanceof VirtualClock ? more.clock : new VirtualClock();
  const api = await startNode({ clock, release, ...more });
  const driven = new Driven(clock);
  const closing = new AbortController();
  const { signal } = closing;
  const make = (seed: number): KubernetesDriver => {
    const client = api.client({ transport: driven.watched(api.transport()) });
    return new KubernetesDriver({ client, clock, settings: SETTINGS, random: seededRandom(seed) });
  };
  const driver = make(11);
  const progress: DriverProgress[] = [];

  /** Lets time pass until the work is done. */
  const during = async <T>(work: Promise<T>, limitMs = 300_000): Promise<T> => {
    let done = false;
    const settled = work.finally(() => {
      done = true;
    });
    settled.catch(() => undefined);
    await driven.run(limitMs, () => done);
    if (!(done as boolean)) throw new Error(`not done within ${limitMs} virtual milliseconds`);
    return settled;
  };
  const find = (storage: string, name: string): KubeObject | null =>
    api.node.handle.find(storage, NAMESPACE, name);
  return {
    ...api,
    clock,
    driven,
    driver,
    make,
    during,
    progress,
    signal,
    find,
    sandbox: () => find(SANDBOXES, REF.name),
    pods: () => api.node.handle.list("pods", NAMESPACE),
    secrets: () => api.node.handle.list("secrets", NAMESPACE),
    claim: () => find("persistentvolumeclaims", `workspace-${REF.name}`),
    launch: (run: number, by = driver, more: Partial<LaunchRequest> = {}): Promise<Json> =>
      by.launch(launchRequest(run, more), { signal, report: (each) => void progress.push(each) }),
    observe: (run: number, by = driver): Promise<Observation> =>
      by.observe(REF, { instanceId: `instance-${run}`, desired: "running" }, null, { signal }),
    /** Suspends the resource as somebody else would, without a word to the gateway. */
    async suspend(version: SandboxVersion): Promise<void> {
      const path = `/apis/agents.x-k8s.io/${version}/namespaces/${NAMESPACE}/sandboxes/${REF.name}`;
      await api.admin.patch(path, { spec: intentOf(version, false) }, { signal });
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("test over"));
      await api[Symbol.asyncDispose]();
    },
  };
}

export type StartedDriver = Awaited<ReturnType<typeof startDriver>>;
