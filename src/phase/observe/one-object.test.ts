import { describe, expect, it } from "vitest";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import type { SandboxRecord } from "../record.js";
import {
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
} from "./index.js";

type Observe = (value: unknown, error?: unknown) => Observation;

const state = { State: { Status: "running", Running: true } };
const listed = { State: "running" };

/** Every observer with one object that it reads. */
const observers: readonly (readonly [name: string, observe: Observe, object: unknown, expected: string])[] = [
  ["a pod", (pod, error) => observePod({ pod, error }), { status: { phase: "Running" } }, "kind Pod"],
  [
    "a Sandbox",
    (sandbox, error) => observeSandboxResource({ sandbox, pods: null, error }),
    { metadata: { name: "sb" } },
    "kind Sandbox",
  ],
  ["Docker", (inspect, error) => observeDockerInspect({ inspect, error }), state, "State"],
  ["Podman", (inspect, error) => observePodmanInspect({ inspect, error }), state, "State"],
  ["Docker's list", (summary, error) => observeDockerListEntry({ summary, error }), listed, "State"],
  ["Podman's list", (summary, error) => observePodmanListEntry({ summary, error }), listed, "State"],
  ["libvirt", (domain, error) => observeLibvirt({ domain, error }), { state: 1, reason: 1 }, "state"],
  [
    "Firecracker",
    (instanceInfo, error) => observeFirecracker({ instanceInfo, error }),
    { state: "Running" },
    "state",
  ],
  [
    "cloud-hypervisor",
    (vmInfo, error) => observeCloudHypervisor({ vmInfo, error }),
    { state: "Running" },
    "state",
  ],
  ["a process", (process, error) => observeProcess({ process, error }), { alive: true }, "alive"],
  ["OpenShell", (status, error) => observeOpenShellStatus({ status, error }), {}, "DriverSandboxStatus"],
];

const record: SandboxRecord = { phase: "Ready", desired: "running", since: 0 };

describe.each(observers)("the observer of %s", (_name, observe, object, expected) => {
  it("reads a list of exactly one", () => {
    expect(observe(object).exists).toBe(true);
    expect(observe([object])).toEqual(observe(object));
    expect(observe({ kind: "List", items: [object] })).toEqual(observe(object));
  });

  it.each([
    ["a list of 0", []],
    ["a list of 0", { kind: "List", items: [] }],
    ["a list of 2", [object, object]],
    ["a list of 2", { items: [object, object] }],
    ["one page of a list", { metadata: { continue: "more" }, items: [object] }],
    ["one page of a list", { metadata: { remainingItemCount: 1 }, items: [object] }],
    ["a list of one: a number", [5]],
    ["a string", "secret-text"],
    ["a number", 5],
  ])("learns nothing from %s, and says so by its kind only", (got, value) => {
    const seen = observe(value);
    expect(seen).toMatchObject({ exists: null, running: null, completed: false, stale: true });
    expect(seen.message).toContain(expected);
    expect(seen.message).toMatch(new RegExp(`, got ${got}$`));
    const decision = derivePhase({ record, observation: seen, now: 1 });
    expect(decision.phase).toBe("Ready");
    expect(decision.rejected[0]?.why).toContain(seen.message);
  });

  it("has no message of its own for a look-up that failed", () => {
    expect(observe("", { status: 503 })).toMatchObject({ exists: null, message: null });
    expect(observe(undefined, { transport: "refused" })).toMatchObject({ exists: null, message: null });
    expect(observe([], { status: 404 })).toMatchObject({ exists: false, message: null });
  });
});

describe("an object of another kind", () => {
  it.each([
    [{ kind: "Deployment", metadata: {}, spec: {}, status: {} }, "an object of kind Deployment"],
    [{ kind: "pod", metadata: {} }, "an object of kind pod"],
    [{ kind: "no kind: a text", metadata: {} }, "another object"],
    [{}, "another object"],
    [{ metadata: null, status: "Failure" }, "another object"],
    [{ metadata: {}, status: "Failure" }, "another object"],
    [undefined, "nothing"],
  ])("is no pod and no Sandbox: %j", (value, got) => {
    expect(observePod({ pod: value })).toMatchObject({
      exists: null,
      running: null,
      message: `pod must be one object of kind Pod, got ${got}`,
    });
    expect(observeSandboxResource({ sandbox: value, pods: { items: [] } })).toMatchObject({
      exists: null,
      running: null,
      message: `sandbox must be one object of kind Sandbox, got ${got}`,
    });
  });

  it.each([["metadata"], ["spec"], ["status"]])("is a pod without a kind where it has %s", (part) => {
    expect(observePod({ pod: { [part]: {} } }).exists).toBe(true);
    expect(observeSandboxResource({ sandbox: { kind: "", [part]: {} }, pods: null }).exists).toBe(true);
  });

  it("is no container: an image, or an engine's error", () => {
    for (const value of [
      { Id: "sha256:0", RepoTags: [] },
      { message: "No such container" },
      { State: null },
      {},
    ])
      for (const observe of [observeDockerInspect, observePodmanInspect])
        expect(observe({ inspect: value })).toMatchObject({
          exists: null,
          message: "inspect must be one object with State, got another object",
        });
    expect(observeDockerInspect({ inspect: undefined }).message).toContain("got nothing");
    expect(observeDockerListEntry({ summary: { State: "running" }, inspect: [] }).running).toBe(true);
    expect(observeDockerListEntry({ summary: { State: "exited" }, inspect: [state] }).running).toBe(true);
    expect(observePodmanListEntry({ summary: { State: "exited" }, inspect: [state] }).running).toBe(true);
  });

  it("is no domain, no status and no reply", () => {
    expect(observeLibvirt({ domain: { id: 1 } })).toMatchObject({
      exists: null,
      message: "domain must be one object with state, got another object",
    });
    expect(observeOpenShellStatus({ status: { kind: "Pod" } })).toMatchObject({
      exists: null,
      message: "status must be one DriverSandboxStatus, got an object of kind Pod",
    });
    expect(observeQemu({ qmp: [{ return: { status: "running" } }] })).toMatchObject({
      exists: null,
      message: "qmp must be the reply to query-status, with return.status, got a list of one: another object",
    });
    expect(observeQemu({ qmp: { error: { class: "GenericError" } } })).toMatchObject({
      exists: null,
      message: null,
    });
  });

  it("in place of a process does not leave the state folder alone", () => {
    const seen = observeProcess({ process: [], stateDir: { exists: true } });
    expect(seen).toMatchObject({ exists: null, suspended: false });
    expect(observeProcess({ process: null, stateDir: { exists: true } }).suspended).toBe(true);
  });

  it("in place of a PodList proves nothing", () => {
    const sandbox = { kind: "Sandbox", metadata: { uid: "u" }, spec: { replicas: 0 } };
    const workload = (pods: unknown): string => observeSandboxResource({ sandbox, pods }).workload;
    expect(workload({ kind: "SandboxList", items: [] })).toBe("unknown");
    for (const kind of ["PodList", "List", "", undefined])
      expect(workload({ kind, items: [] })).toBe("absent");
  });
});
