import { describe, expect, it } from "vitest";
import { derivePhase } from "../derive-phase.js";
import type { SandboxRecord } from "../record.js";
import { observePod } from "./pod.js";
import { observeSandboxResource } from "./sandbox-resource.js";
import type { SandboxResourceOptions } from "./sandbox-view.js";

type Json = Record<string, unknown>;

function condition(
  type: string,
  status: string,
  reason: string,
  observedGeneration: number | null = 2,
): Json {
  return { type, status, reason, ...(observedGeneration === null ? {} : { observedGeneration }) };
}

function sandbox(spec: Json, conditions: unknown = [], metadata: Json = {}): Json {
  return {
    apiVersion: "replicas" in spec ? "agents.x-k8s.io/v1alpha1" : "agents.x-k8s.io/v1beta1",
    kind: "Sandbox",
    metadata: { name: "sb", uid: "u-1", generation: 2, ...metadata },
    spec,
    status: { conditions },
  };
}

function pod(
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

const see = (
  resource: Json,
  pods: unknown,
  options: SandboxResourceOptions = {},
): ReturnType<typeof observeSandboxResource> => observeSandboxResource({ sandbox: resource, pods }, options);

const running: SandboxRecord = { phase: "Ready", desired: "running", since: 0 };
const stopping: SandboxRecord = { phase: "Stopping", desired: "stopped", since: 0 };

function phaseOf(record: SandboxRecord, resource: Json, pods: unknown): string {
  const observation = see(resource, pods, { run: { desired: record.desired } });
  return derivePhase({ record, observation, now: 0 }).phase;
}

const RUN = { operatingMode: "Running" };
const SUSPEND = { operatingMode: "Suspended" };
const none = { items: [] };

describe("an agent-sandbox resource, by the table of its releases", () => {
  it.each<[string, SandboxRecord, Json, unknown, string]>([
    [
      "deletionTimestamp",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")], {
        deletionTimestamp: "2026-10-20T12:00:00Z",
      }),
      { items: [pod()] },
      "Deleting",
    ],
    ["suspend, none owned", stopping, sandbox(SUSPEND), none, "Stopped"],
    ["suspend, items null", stopping, sandbox(SUSPEND), { items: null }, "Stopped"],
    ["suspend, array of pods", stopping, sandbox(SUSPEND), [], "Stopped"],
    ["suspend, mode in capitals", stopping, sandbox({ operatingMode: "SUSPENDED" }), none, "Stopped"],
    [
      "suspend, pod goes away",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "False", "PodTerminating")]),
      { items: [pod({ deleting: true })] },
      "Stopping",
    ],
    [
      "suspend, pod still up",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "False", "PodNotTerminated")]),
      { items: [pod()] },
      "Stopping",
    ],
    ["suspend, pod ended but there", stopping, sandbox(SUSPEND), { items: [pod({ code: 143 })] }, "Stopping"],
    [
      "suspend, not owned",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "False", "PodNotOwned")]),
      { items: [pod({ uid: "other" })] },
      "Error",
    ],
    [
      "suspend, pods not asked",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "True", "PodTerminated")]),
      null,
      "Stopping",
    ],
    [
      "suspend, a page of pods",
      stopping,
      sandbox(SUSPEND),
      { items: [], metadata: { continue: "t" } },
      "Stopping",
    ],
    [
      "ready",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "ready, but its pod is gone",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      none,
      "Provisioning",
    ],
    [
      "ready, but its pod is not",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod({ ready: false })] },
      "Provisioning",
    ],
    [
      "ready by an older generation, pod ready",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady", 1)]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "not ready yet",
      running,
      sandbox(RUN, [condition("Ready", "False", "DependenciesNotReady")]),
      none,
      "Provisioning",
    ],
    [
      "controller failing, pod up",
      running,
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "suspend, two pods still up",
      stopping,
      sandbox(SUSPEND),
      { items: [pod(), pod({ name: "sb-2" })] },
      "Stopping",
    ],
    [
      "an empty deletionTimestamp",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")], { deletionTimestamp: "" }),
      { items: [pod()] },
      "Ready",
    ],
    [
      "ready, pods unknown",
      running,
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      null,
      "Ready",
    ],
    [
      "two live pods",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod(), pod({ name: "sb-2" })] },
      "Error",
    ],
    [
      "failed predecessor beside a ready successor",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod({ code: 1, deleting: true }), pod({ name: "sb-2" })] },
      "Ready",
    ],
    [
      "finished well",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodSucceeded")]),
      { items: [pod({ code: 0 })] },
      "Completed",
    ],
    [
      "finished well, pod gone",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodSucceeded")]),
      none,
      "Completed",
    ],
    [
      "finished badly, pod gone",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodFailed")]),
      none,
      "Error",
    ],
    [
      "finished of an older generation",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodFailed", 1)]),
      none,
      "Provisioning",
    ],
    [
      "finished said, but a pod runs",
      running,
      sandbox(RUN, [
        condition("Finished", "True", "PodFailed"),
        condition("Ready", "True", "DependenciesReady"),
      ]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "finished well, controller failing",
      running,
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      { items: [pod({ code: 0 })] },
      "Completed",
    ],
    [
      "expired, pod gone",
      running,
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      none,
      "Stopped",
    ],
    [
      "expired, pod left",
      running,
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      { items: [pod()] },
      "Stopping",
    ],
    ["no status", running, { metadata: { uid: "u-1" }, spec: {} }, none, "Provisioning"],
    ["replicas null", running, sandbox({ replicas: null }), none, "Provisioning"],
    ["an unknown mode", running, sandbox({ operatingMode: "Hibernating" }), none, "Provisioning"],
    [
      "a stale Suspended next to a ready pod",
      running,
      sandbox(RUN, [
        condition("Suspended", "True", "PodTerminated", null),
        condition("Ready", "True", "DependenciesReady", null),
      ]),
      { items: [pod()] },
      "Ready",
    ],
  ])("%s", (_name, record, resource, pods, phase) => {
    expect(phaseOf(record, resource, pods)).toBe(phase);
  });
});

it("an expired one whose pod is long overdue on its node is unknown, not ready", () => {
  const resource = sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]);
  const observedAt = Date.parse("2026-10-20T13:00:00Z");
  const observation = see(resource, { items: [pod({ deleting: true })] }, { observedAt });
  expect(derivePhase({ record: running, observation, now: observedAt })).toMatchObject({
    phase: "Unknown",
    reason: "NodeLost",
  });
});

describe("evidence", () => {
  it("of twins is settled by generation, then time, never by place", () => {
    const old = {
      ...condition("Ready", "True", "DependenciesReady", 1),
      lastTransitionTime: "2026-10-20T11:00:00Z",
    };
    const now = {
      ...condition("Ready", "False", "DependenciesNotReady", 2),
      lastTransitionTime: "2026-10-20T10:00:00Z",
    };
    const later = { ...now, reason: "ReconcilerError", lastTransitionTime: "2026-10-20T10:30:00Z" };
    const never = { ...now, reason: "MultiplePods", lastTransitionTime: "0001-01-01T00:00:00Z" };
    for (const list of [
      [old, now, later, never],
      [never, later, now, old],
      [later, never, old, now],
    ])
      expect(see(sandbox(RUN, list), none)).toMatchObject({
        ready: false,
        failureReason: "BackendError",
        backendReason: "ReconcilerError",
      });
    const equal = [now, { ...now }];
    expect(see(sandbox(RUN, equal), none)).toMatchObject({ ready: false, behind: false });
  });

  it("of a bootstrap is the driver's mark, whatever it is called", () => {
    const marked = (value: unknown, key = "openshell.ai/sandbox-runtime-bootstrapping"): Json =>
      sandbox({ replicas: 0 }, [], { annotations: { [key]: value } });
    expect(see(marked("true"), none).bootstrapping).toBe(true);
    expect(see(marked(""), none).bootstrapping).toBe(true);
    expect(see(marked("False"), none).bootstrapping).toBe(false);
    expect(see(marked("1", "acme.io/boot"), none).bootstrapping).toBe(false);
    expect(see(marked("1", "acme.io/boot"), none, { bootstrapKey: "acme.io/boot" }).bootstrapping).toBe(true);
  });

  it("of scheduling and unknown words leaves waiting possible", () => {
    expect(see(sandbox(RUN, [condition("PodScheduled", "False", "Unschedulable")]), none)).toMatchObject({
      failureReason: "Unschedulable",
      failureClass: "transient",
    });
    expect(see(sandbox(RUN, [condition("Ready", "False", "FluxTooHigh")]), none)).toMatchObject({
      failureReason: null,
      failureClass: "transient",
    });
  });

  it("of an owner without a uid falls back to its kind and name", () => {
    const anonymous = { metadata: { name: "sb" }, spec: { operatingMode: "Running" } };
    expect(see(anonymous, { items: [pod()] }).workload).toBe("present");
    expect(
      see(anonymous, {
        items: [{ metadata: { ownerReferences: [{ kind: "Job", name: "sb", controller: true }] } }],
      }).workload,
    ).toBe("absent");
  });

  it("survives null items everywhere", () => {
    const odd = { items: [null, 1, "x", [], pod(), { metadata: null }] };
    expect(
      see(sandbox(RUN, [null, 7, { type: null }, condition("Ready", "True", "DependenciesReady")]), odd),
    ).toMatchObject({ running: true, ready: true });
  });

  it("that is the API's refusal in place of an object is no object", () => {
    const refusal = (reason: string, code: number): Json => ({
      kind: "Status",
      status: "Failure",
      reason,
      code,
      details: { name: "sb" },
    });
    expect(see(refusal("NotFound", 404), none).exists).toBe(false);
    expect(see(refusal("Forbidden", 403), none).exists).toBeNull();
    expect(observePod({ pod: refusal("NotFound", 404) }).exists).toBe(false);
    expect(observePod({ pod: refusal("Timeout", 504) }).exists).toBeNull();
  });

  it("of a list that says that more remains is a page", () => {
    const page = { items: [], metadata: { remainingItemCount: 2 } };
    expect(see(sandbox(SUSPEND), page)).toMatchObject({ workload: "unknown", suspended: false });
    expect(see(sandbox(SUSPEND), { items: [pod()], metadata: { continue: "t" } }).workload).toBe("present");
    expect(see(sandbox(SUSPEND), { items: "many" }).workload).toBe("unknown");
  });

  it.each(["PodSucceeded", "PodFailed"])(
    "of an end before the start was asked for is the previous run's: %s",
    (word) => {
      const finished = (more: Json): Json =>
        sandbox(RUN, [{ ...condition("Finished", "True", word, null), ...more }]);
      const starting = { phase: "Starting", desired: "running", since: 0 } as const;
      const run = { startRequestedAt: Date.parse("2026-10-20T11:40:03.200Z") };
      for (const pods of [{ items: [] }, null]) {
        const before = see(finished({ lastTransitionTime: "2026-10-20T11:40:02Z" }), pods, { run });
        expect(before).toMatchObject({ completed: false, backendReason: null });
        expect(derivePhase({ record: starting, observation: before, now: 1 }).phase).toBe("Starting");
        for (const lastTransitionTime of ["2026-10-20T11:40:03Z", "2026-10-20T11:41:00Z", null])
          expect(see(finished({ lastTransitionTime }), pods, { run }).completed).toBe(true);
      }
    },
  );

  it.each(["PodSucceeded", "PodFailed"])(
    "of an end is this run's by its generation, where the clocks differ by seconds: %s",
    (word) => {
      const lastTransitionTime = "2026-10-20T11:40:02Z";
      const run = { startRequestedAt: Date.parse("2026-10-20T11:40:05.200Z") };
      const pods = { items: [] };
      const at = { ...condition("Finished", "True", word, null), lastTransitionTime };
      const completed = (resource: Json, options: Json): unknown => see(resource, pods, options).completed;
      const generation = (sandbox(RUN)["metadata"] as Json)["generation"] as number;
      const current = sandbox(RUN, [{ ...at, observedGeneration: generation }]);
      expect(completed(current, { run })).toBe(true);
      // A run is started again without a change of the specification, which numbers nothing anew.
      const before = Date.parse(lastTransitionTime);
      const started = (afterMs: number): Json => ({ run: { startRequestedAt: before + afterMs } });
      expect(completed(current, started(5_999))).toBe(true);
      expect(completed(current, started(6_000))).toBe(false);
      expect(completed(current, { run: { startRequestedAt: before + 6_000, confirmed: true } })).toBe(true);
      const undated = { ...at, observedGeneration: generation, lastTransitionTime: null };
      expect(completed(sandbox(RUN, [undated]), started(6_000))).toBe(true);
      // Without a generation on either side the time decides.
      expect(completed(sandbox(RUN, [at]), { run })).toBe(false);
      const unnumbered = {
        ...current,
        metadata: { ...(current["metadata"] as Json), generation: undefined },
      };
      expect(completed(unnumbered, { run })).toBe(false);
      // Of an older generation it is about another specification, at any time.
      expect(completed(sandbox(RUN, [{ ...at, observedGeneration: generation - 1 }]), {})).toBe(false);
      // The resource is told the next run's instance before its controller says anything of that run.
      const annotations = { "slipway.dev/instance-id": "i-2" };
      expect(completed(sandbox(RUN, [at], { annotations }), { run: { ...run, instanceId: "i-2" } })).toBe(
        false,
      );
    },
  );

  it("of another instance is dropped", () => {
    const resource = sandbox(RUN, [condition("Ready", "True", "DependenciesReady")], {
      annotations: { "slipway.dev/instance-id": "i-1" },
    });
    expect(see(resource, { items: [pod()] }, { run: { instanceId: "i-2" } }).stale).toBe(true);
  });
});
