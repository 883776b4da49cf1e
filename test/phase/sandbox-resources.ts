import {
  derivePhase,
  observeSandboxResource,
  type SandboxRecord,
  type SandboxResourceOptions,
} from "../../src/phase/index.js";

export type Json = Record<string, unknown>;

export function condition(
  type: string,
  status: string,
  reason: string,
  observedGeneration: number | null = 2,
): Json {
  return { type, status, reason, ...(observedGeneration === null ? {} : { observedGeneration }) };
}

export function sandbox(spec: Json, conditions: unknown = [], metadata: Json = {}): Json {
  return {
    apiVersion: "replicas" in spec ? "agents.x-k8s.io/v1alpha1" : "agents.x-k8s.io/v1beta1",
    kind: "Sandbox",
    metadata: { name: "sb", uid: "u-1", generation: 2, ...metadata },
    spec,
    status: { conditions },
  };
}

export function pod(
  more: {
    name?: string;
    uid?: string;
    phase?: string;
    deleting?: boolean;
    code?: number;
    ready?: boolean;
    created?: string;
  } = {},
): Json {
  const ended = more.code !== undefined;
  return {
    metadata: {
      name: more.name ?? "sb",
      creationTimestamp: more.created ?? "2026-10-20T09:00:00Z",
      ownerReferences: [{ kind: "Sandbox", name: "sb", uid: more.uid ?? "u-1", controller: true }],
      ...(more.deleting === true ? { deletionTimestamp: "2026-10-20T12:00:00Z" } : {}),
    },
    spec: { restartPolicy: "Never", containers: [{ name: "agent" }] },
    status: {
      phase: more.phase ?? (ended ? (more.code === 0 ? "Succeeded" : "Failed") : "Running"),
      conditions: [{ type: "Ready", status: ended || more.ready === false ? "False" : "True" }],
      containerStatuses: [
        {
          name: "agent",
          ready: !ended,
          started: !ended,
          state: ended
            ? { terminated: { exitCode: more.code, reason: "Error", finishedAt: "2026-10-20T11:40:02Z" } }
            : { running: {} },
        },
      ],
    },
  };
}

export const see = (
  resource: Json,
  pods: unknown,
  options: SandboxResourceOptions = {},
): ReturnType<typeof observeSandboxResource> => observeSandboxResource({ sandbox: resource, pods }, options);

export const running: SandboxRecord = { phase: "Ready", desired: "running", since: 0 };
export const stopping: SandboxRecord = { phase: "Stopping", desired: "stopped", since: 0 };

export function phaseOf(record: SandboxRecord, resource: Json, pods: unknown): string {
  const observation = see(resource, pods, { run: { desired: record.desired } });
  return derivePhase({ record, observation, now: 0 }).phase;
}

export const RUN = { operatingMode: "Running" };
export const SUSPEND = { operatingMode: "Suspended" };
export const none = { items: [] };
