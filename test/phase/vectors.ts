import { readFileSync } from "node:fs";
import {
  observeCloudHypervisor,
  observeDockerInspect,
  observeDockerListEntry,
  observeFirecracker,
  observeLibvirt,
  observePod,
  observePodmanInspect,
  observePodmanListEntry,
  observeProcess,
  observeQemu,
  observeSandboxResource,
  expectedRun,
  type Observation,
  type ObserveOptions,
  type SandboxRecord,
} from "../../src/phase/index.js";

/** A record as the vectors write it: instants are texts. */
export interface VectorRecord {
  readonly phase: SandboxRecord["phase"];
  readonly desired: SandboxRecord["desired"];
  readonly since?: string;
  readonly startRequestedAt?: string;
  readonly previousFinishedAt?: string;
  readonly instanceId?: string;
  readonly exitCode?: number;
  readonly finishedAt?: string;
  readonly reason?: string;
}

export interface Expectation {
  readonly phase: string;
  readonly acceptable: readonly string[];
  readonly mustNotBe: readonly string[];
}

export interface BackendVector {
  readonly id: string;
  readonly backend: string;
  readonly title: string;
  readonly now: string;
  readonly record: VectorRecord;
  readonly observation: Record<string, unknown>;
  readonly expected: Expectation & Record<string, unknown>;
  readonly alsoWithRecord?: readonly (Expectation & {
    readonly record: VectorRecord;
    readonly why: string;
  })[];
}

export function readVectors(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../fixtures/vectors/${name}`, import.meta.url), "utf8")) as unknown;
}

export const backendVectors: readonly BackendVector[] = (
  readVectors("backend-observations.json") as { vectors: BackendVector[] }
).vectors;

function instant(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}

export function recordOf(record: VectorRecord): SandboxRecord {
  return {
    phase: record.phase,
    desired: record.desired,
    since: instant(record.since) ?? 0,
    startRequestedAt: instant(record.startRequestedAt),
    previousFinishedAt: instant(record.previousFinishedAt),
    instanceId: record.instanceId ?? null,
    exitCode: record.exitCode ?? null,
    finishedAt: instant(record.finishedAt),
    reason: record.reason ?? null,
  };
}

type Observer = (input: never, options: ObserveOptions) => Observation;

/** The observer of a vector's `backend`, by its family and form. */
function observerOf(backend: string): Observer {
  const [family = "", form = ""] = backend.split("/");
  const list = form.includes("list");
  switch (family) {
    case "agent-sandbox":
      return observeSandboxResource;
    case "kubernetes":
      return observePod;
    case "docker":
      return list ? observeDockerListEntry : observeDockerInspect;
    case "podman":
      return list ? observePodmanListEntry : observePodmanInspect;
    case "qemu":
      return observeQemu;
    case "vm":
    case "process":
      return observeProcess;
    case "libvirt":
      return observeLibvirt;
    case "firecracker":
      return observeFirecracker;
    case "cloud-hypervisor":
      return observeCloudHypervisor;
    default:
      throw new Error(`no observer for ${backend}`);
  }
}

/** `observedAt` is when the vector's moment is: the observation is made now, and `now` may move on without it. */
export function observe(
  vector: BackendVector,
  record: SandboxRecord,
  observation: unknown = vector.observation,
): Observation {
  return observerOf(vector.backend)(observation as never, {
    run: expectedRun(record),
    observedAt: Date.parse(vector.now),
  });
}
