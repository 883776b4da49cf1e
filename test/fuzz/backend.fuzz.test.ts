import fc from "fast-check";
import { expect } from "vitest";
import {
  allowedOperations,
  derivePhase,
  observeCloudHypervisor,
  observeDockerInspect,
  observeDockerListEntry,
  observeFirecracker,
  observeLibvirt,
  observeOpenShellStatus,
  observePod,
  observePodmanInspect,
  observePodmanListEntry,
  observeProcess,
  observeQemu,
  observeSandboxResource,
  phases,
  type Observation,
  type ObserveOptions,
  type SandboxRecord,
} from "../../src/phase/index.js";
import { backendVectors } from "../phase/vectors.js";
import { fuzz, json } from "./fuzz.js";
import { hostile, mutated, withUnknownFields } from "./mutations.js";

const observers: Readonly<Record<string, (input: never, options: ObserveOptions) => Observation>> = {
  "agent-sandbox": observeSandboxResource,
  kubernetes: observePod,
  docker: observeDockerInspect,
  "docker-list": observeDockerListEntry,
  podman: observePodmanInspect,
  "podman-list": observePodmanListEntry,
  qemu: observeQemu,
  process: observeProcess,
  libvirt: observeLibvirt,
  firecracker: observeFirecracker,
  "cloud-hypervisor": observeCloudHypervisor,
  openshell: observeOpenShellStatus,
};

interface Seen {
  readonly observer: string;
  /** What the backend answered. */
  readonly input: unknown;
}

const NOW = Date.parse("2026-10-20T12:00:00Z");
const RECORDS: readonly SandboxRecord[] = (["Provisioning", "Ready", "Stopping", "Error"] as const).map(
  (phase) => ({
    phase,
    desired: phase === "Stopping" ? "stopped" : "running",
    since: NOW - 60_000,
    startRequestedAt: NOW - 60_000,
    previousFinishedAt: null,
    instanceId: phase === "Ready" ? "run-1" : null,
    exitCode: null,
    finishedAt: null,
    reason: null,
  }),
);

/** Nothing throws, what comes out is plain JSON that the rules can work with, and what is unknown changes nothing. */
function law({ observer, input }: Seen): void {
  const observe = observers[observer];
  if (observe === undefined) throw new Error(`no observer ${observer}`);
  const asGiven = JSON.stringify(input);
  for (const record of RECORDS) {
    const run = {
      desired: record.desired,
      instanceId: record.instanceId,
      startRequestedAt: record.startRequestedAt,
    };
    const options = { run, observedAt: NOW };
    const observation = observe(input as never, options);
    expect(JSON.parse(JSON.stringify(observation))).toEqual(observation);
    for (const at of [observation.finishedAt, observation.observedAt]) {
      if (at !== null) expect(new Date(at).getTime()).toBe(at);
    }
    const decision = derivePhase({ record, observation, now: NOW });
    expect(phases).toContain(decision.phase);
    for (const gate of Object.values(allowedOperations({ record, observation, by: "user", now: NOW })))
      expect(gate.allowed || gate.reason !== "").toBe(true);
    expect(observe(withUnknownFields(input) as never, options)).toEqual(observation);
  }
  expect(JSON.stringify(input)).toBe(asGiven);
}

function observerOf(backend: string): string {
  const [family = "", form = ""] = backend.split("/");
  if (family === "vm") return "process";
  return form.includes("list") ? `${family}-list` : family;
}

const OPENSHELL = {
  status: {
    phase: "SANDBOX_PHASE_READY",
    conditions: [{ type: "Ready", status: "True", reason: "Ready", message: "", last_transition_time: null }],
  },
  replicas: 1,
  podCount: 1,
  bootstrapping: false,
  previousGeneration: false,
};

const real: readonly Seen[] = [
  ...backendVectors.map(({ backend, observation }) => ({
    observer: observerOf(backend),
    input: observation,
  })),
  { observer: "openshell", input: OPENSHELL },
];

const bases = new Map(
  Object.keys(observers).map((name) => [
    name,
    real.filter((each) => each.observer === name).map(({ input }) => input),
  ]),
);

const inputs: fc.Arbitrary<Seen> = fc.constantFrom(...bases.keys()).chain((observer) =>
  fc.record({
    observer: fc.constant(observer),
    input: fc.oneof(
      { weight: 20, arbitrary: mutated(bases.get(observer) ?? []) },
      { weight: 1, arbitrary: hostile },
    ),
  }),
);

fuzz<Seen>({
  name: "backend-json",
  corpus: new URL("corpus/", import.meta.url),
  codec: json as never,
  inputs,
  law,
  runs: 250,
});
