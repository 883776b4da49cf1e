import { describe, expect, it } from "vitest";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import { expectedRun, type SandboxRecord } from "../record.js";
import { observePod } from "./pod.js";

type Json = Record<string, unknown>;

function waiting(reason: string): Json {
  return { waiting: { reason } };
}

function terminated(exitCode: number, reason = "Error", finishedAt = "2026-10-20T11:40:02Z"): Json {
  return { terminated: { exitCode, reason, finishedAt } };
}

interface Shape {
  readonly phase?: string;
  readonly reason?: string;
  readonly main?: Json;
  readonly init?: Json;
  readonly restartPolicy?: string;
  readonly conditions?: readonly Json[];
  readonly deletionTimestamp?: string;
  readonly started?: boolean;
  readonly ready?: boolean;
}

function pod(shape: Shape): Json {
  return {
    kind: "Pod",
    metadata: shape.deletionTimestamp === undefined ? {} : { deletionTimestamp: shape.deletionTimestamp },
    spec: {
      restartPolicy: shape.restartPolicy ?? "Never",
      containers: [{ name: "agent" }, { name: "aside" }],
      initContainers: shape.init === undefined ? [] : [{ name: "seed" }],
    },
    status: {
      phase: shape.phase ?? "Pending",
      ...(shape.reason === undefined ? {} : { reason: shape.reason }),
      conditions: shape.conditions ?? [],
      containerStatuses:
        shape.main === undefined
          ? []
          : [
              { name: "aside", state: { running: {} }, ready: true, started: true },
              {
                name: "agent",
                state: shape.main,
                ready: shape.ready ?? false,
                started: shape.started ?? false,
              },
            ],
      initContainerStatuses: shape.init === undefined ? [] : [{ name: "seed", state: shape.init }],
    },
  };
}

function see(shape: Shape, options = {}): ReturnType<typeof observePod> {
  return observePod({ pod: pod(shape) }, options);
}

function phaseOf(shape: Shape, phase: "Starting" | "Stopping" = "Starting"): string {
  const desired = phase === "Stopping" ? "stopped" : "running";
  const observation = see(shape, { run: { desired } });
  return derivePhase({ record: { phase, desired, since: 0 }, observation, now: 0 }).phase;
}

describe("waiting reasons", () => {
  it.each([
    ["ContainerCreating", null, null],
    ["PodInitializing", null, null],
    ["KillContainerError", null, null],
    ["ErrImagePull", "ImagePullFailed", "transient"],
    ["ImagePullBackOff", "ImagePullFailed", "transient"],
    ["ImageInspectError", "ImagePullFailed", "transient"],
    ["RegistryUnavailable", "ImagePullFailed", "transient"],
    ["ErrImageNeverPull", "ImagePullFailed", "transient"],
    ["InvalidImageName", "ImageInvalid", "terminal"],
    ["CreateContainerConfigError", "ContainerConfigInvalid", "transient"],
    ["CreateContainerError", "ContainerStartFailed", "transient"],
    ["RunContainerError", "ContainerStartFailed", "transient"],
    ["CreatePodSandboxError", "ContainerStartFailed", "transient"],
    ["ConfigPodSandboxError", "ContainerStartFailed", "transient"],
    ["CrashLoopBackOff", "CrashLoop", "transient"],
    ["SomethingNew", null, "transient"],
  ])("%s means %s, %s", (reason, failureReason, failureClass) => {
    const observation = see({ main: waiting(reason), restartPolicy: "Always" });
    expect(observation).toMatchObject({
      running: false,
      completed: false,
      failureReason,
      failureClass,
      backendReason: reason,
    });
    expect(phaseOf({ main: waiting(reason) })).toBe(failureClass === "terminal" ? "Error" : "Starting");
  });
});

describe("a pod that ended", () => {
  it.each([
    ["Evicted", "Evicted"],
    ["Preempting", "Preempted"],
    ["Terminated", "NodeShutdown"],
    ["Shutdown", "NodeShutdown"],
    ["NodeShutdown", "NodeShutdown"],
    ["DeadlineExceeded", "DeadlineExceeded"],
    ["OutOfcpu", "AdmissionRejected"],
    ["OutOfnvidia.com/gpu", "AdmissionRejected"],
    ["NodeAffinity", "AdmissionRejected"],
    ["UnexpectedAdmissionError", "AdmissionRejected"],
    ["AppArmorOfTomorrow", "AdmissionRejected"],
  ])("for the pod's reason %s: %s", (reason, failureReason) => {
    expect(see({ phase: "Failed", reason })).toMatchObject({
      completed: true,
      exitCode: null,
      failureReason,
      failureClass: "terminal",
    });
  });

  it("for a resource that its node has not, whatever its containers show", () => {
    for (const reason of ["OutOfcpu", "OutOfnvidia.com/gpu"])
      expect(see({ phase: "Failed", reason, main: terminated(1) }).failureReason).toBe("AdmissionRejected");
    expect(see({ phase: "Failed", reason: "NotOutOf", main: terminated(1) }).failureReason).toBe(
      "ProcessExited",
    );
  });

  it.each([
    ["EvictionByEvictionAPI", "Evicted"],
    ["PreemptionByScheduler", "Preempted"],
    ["DeletionByPodGC", "NodeLost"],
    ["TerminationByKubelet", "Evicted"],
    ["SomethingNew", "Killed"],
  ])("for the disruption %s: %s", (reason, failureReason) => {
    const conditions = [{ type: "DisruptionTarget", status: "True", reason }];
    expect(see({ phase: "Failed", main: terminated(137), conditions }).failureReason).toBe(failureReason);
  });

  it.each([
    ["OOMKilled", 137, 137, "OutOfMemory"],
    ["StartError", 128, 128, "ContainerStartFailed"],
    ["ContainerCannotRun", 127, 127, "ContainerStartFailed"],
    ["ContainerStatusUnknown", 137, null, "Killed"],
    ["Unknown", 255, null, "NodeShutdown"],
    ["Error", 3, 3, "ProcessExited"],
    ["Error", 143, 143, "Killed"],
  ])("for the container's %s %i: code %s, %s", (reason, code, exitCode, failureReason) => {
    expect(see({ phase: "Failed", main: terminated(code, reason) })).toMatchObject({
      exitCode,
      failureReason,
    });
  });

  const disrupted = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" };
  it.each<[string, Shape, Partial<Observation>]>([
    [
      "by itself, with success",
      { phase: "Succeeded", main: terminated(0, "Completed") },
      { exitCode: 0, endedBy: "guest", failureReason: null, failureClass: null, backendReason: "Completed" },
    ],
    [
      "with success, as the pod alone says",
      { phase: "Succeeded" },
      { exitCode: null, endedBy: "guest", failureReason: null },
    ],
    [
      "with success, though it was disrupted before",
      { phase: "Succeeded", conditions: [disrupted] },
      { exitCode: null, endedBy: "guest", failureReason: null },
    ],
    [
      "with success, whatever word the pod has for it",
      { phase: "Succeeded", reason: "Terminated", main: terminated(0, "Completed") },
      { exitCode: 0, endedBy: "guest", failureReason: null },
    ],
    [
      "with a code of its own",
      { phase: "Failed", main: terminated(3) },
      { exitCode: 3, endedBy: "unknown", failureReason: "ProcessExited" },
    ],
    [
      "with exit 0 of its own although it was disrupted",
      { phase: "Failed", main: terminated(0, "Completed"), conditions: [disrupted] },
      { exitCode: 0, endedBy: "guest", failureReason: null },
    ],
    [
      "with a code that was made up, so that the disruption is the cause",
      { phase: "Failed", main: terminated(0, "ContainerStatusUnknown"), conditions: [disrupted] },
      { exitCode: null, endedBy: "unknown", failureReason: "Evicted" },
    ],
    [
      "by a deadline of its own",
      { phase: "Failed", main: terminated(143, "DeadlineExceeded") },
      { exitCode: 143, failureReason: "DeadlineExceeded" },
    ],
    [
      "before any container had a status, for a reason that is not known",
      { phase: "Failed", reason: "OfTomorrow" },
      { exitCode: null, endedBy: "unknown", failureReason: "AdmissionRejected" },
    ],
    [
      "before any container had a status, without a reason",
      { phase: "Failed" },
      { exitCode: null, endedBy: "unknown", failureReason: null },
    ],
    [
      "with containers that were running, for a reason that is not known",
      { phase: "Failed", reason: "OfTomorrow", main: { running: {} } },
      { exitCode: null, endedBy: "unknown", failureReason: null, backendReason: "OfTomorrow" },
    ],
    [
      "in an init container",
      { phase: "Failed", main: waiting("PodInitializing"), init: terminated(2) },
      { exitCode: 2, failureReason: "InitFailed", finishedAt: Date.parse("2026-10-20T11:40:02Z") },
    ],
    [
      "with an init container that only waits",
      { phase: "Failed", main: waiting("PodInitializing"), init: waiting("CrashLoopBackOff") },
      { exitCode: null, failureReason: null, finishedAt: null },
    ],
  ])("%s", (_name, shape, facts) => {
    expect(see(shape)).toMatchObject({ completed: true, running: false, ready: false, ...facts });
  });

  it.each([
    ["Error", 143, null],
    ["ContainerStatusUnknown", 137, null],
    ["Unknown", 255, null],
    ["OOMKilled", 137, "OutOfMemory"],
    ["StartError", 128, "ContainerStartFailed"],
    ["DeadlineExceeded", 143, "DeadlineExceeded"],
  ])("under a stop that was asked for, for %s %i: %s", (reason, code, failureReason) => {
    const observation = see(
      { phase: "Failed", main: terminated(code, reason) },
      { run: { desired: "stopped" } },
    );
    expect(observation).toMatchObject({ completed: true, failureReason });
  });

  it("without a code has no cause of its own", () => {
    const main = { terminated: { reason: "Error", finishedAt: "2026-10-20T11:40:02Z" } };
    expect(see({ phase: "Failed", main })).toMatchObject({ exitCode: null, failureReason: null });
  });

  it("is the main container's doing, whatever stands first in the list", () => {
    expect(see({ phase: "Running", main: terminated(0, "Completed") })).toMatchObject({
      completed: true,
      exitCode: 0,
      running: false,
    });
    expect(phaseOf({ phase: "Running", main: terminated(0, "Completed") })).toBe("Completed");
    expect(phaseOf({ phase: "Failed", main: terminated(0, "Completed") })).toBe("Completed");
  });

  it("is not over while a restart is due", () => {
    const observation = see({ phase: "Running", main: terminated(1), restartPolicy: "Always" });
    expect(observation).toMatchObject({
      completed: false,
      running: false,
      failureReason: "CrashLoop",
      exitCode: null,
    });
    expect(see({ phase: "Running", main: terminated(0), restartPolicy: "OnFailure" }).completed).toBe(true);
    expect(see({ phase: "Running", main: terminated(1), restartPolicy: "OnFailure" }).completed).toBe(false);
  });

  it("before the start was asked for is the previous run's", () => {
    const run = { startRequestedAt: Date.parse("2026-10-20T11:40:03.200Z") };
    expect(see({ phase: "Failed", main: terminated(1) }, { run })).toMatchObject({
      completed: false,
      stale: true,
    });
    // Kubernetes rounds to seconds: the same second is no proof.
    const same = { startRequestedAt: Date.parse("2026-10-20T11:40:02.900Z") };
    expect(see({ phase: "Failed", main: terminated(1) }, { run: same }).completed).toBe(true);
  });

  it.each<[string, Json, Json]>([
    // Five seconds are the clocks': who makes a pod and who asks for it do not share one.
    ["making", { creationTimestamp: "2026-10-20T11:39:57Z" }, {}],
    [
      "containers or its place, whichever came last",
      { creationTimestamp: "2026-10-20T09:00:00Z" },
      {
        conditions: [
          { type: "PodScheduled", lastTransitionTime: "2026-10-20T09:00:00Z" },
          { type: "ContainersReady", lastTransitionTime: "2026-10-20T11:40:02Z" },
          { type: "Ready", lastTransitionTime: "2026-10-20T11:40:01Z" },
          { type: "example.com/gate", lastTransitionTime: "when it was" },
        ],
      },
    ],
    ["place", {}, { conditions: [{ type: "PodScheduled", lastTransitionTime: "2026-10-20T11:40:02Z" }] }],
    ["readiness", {}, { conditions: [{ type: "Ready", lastTransitionTime: "2026-10-20T11:40:02Z" }] }],
    [
      "disruption",
      {},
      { conditions: [{ type: "DisruptionTarget", lastTransitionTime: "2026-10-20T11:40:02Z" }] },
    ],
    [
      "making, whatever code was made up",
      { creationTimestamp: "2026-10-20T11:39:57Z" },
      {
        containerStatuses: [
          {
            name: "agent",
            state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown", finishedAt: null } },
          },
        ],
      },
    ],
  ])("without a time of its end ended no later than it changed: its %s", (_name, metadata, status) => {
    const spec = { restartPolicy: "Never", containers: [{ name: "agent" }] };
    const look = (startRequestedAt: string, more = { metadata, status }): ReturnType<typeof observePod> => {
      const evicted = { ...more, spec, status: { phase: "Failed", reason: "Evicted", ...more.status } };
      return observePod({ pod: evicted }, { run: { startRequestedAt: Date.parse(startRequestedAt) } });
    };
    const starting = { phase: "Starting", desired: "running", since: 0 } as const;
    const before = look("2026-10-20T11:40:03.200Z");
    expect(before).toMatchObject({ completed: false, failureReason: null, stale: true });
    expect(derivePhase({ record: starting, observation: before, now: 1 }).phase).toBe("Starting");
    const after = look("2026-10-20T11:40:02.900Z");
    expect(after).toMatchObject({ completed: true, failureReason: "Evicted", stale: false });
    expect(derivePhase({ record: starting, observation: after, now: 1 }).phase).toBe("Error");
    // A pod that shows no time at all is taken as it is.
    expect(look("2026-10-20T11:40:03.200Z", { metadata: {}, status: {} }).completed).toBe(true);
  });

  describe("without a time of its end, though it was made long before", () => {
    const evicted = (metadata: Json = {}): Json => ({
      metadata: { creationTimestamp: "2026-10-20T09:00:00Z", ...metadata },
      spec: { restartPolicy: "Never", containers: [{ name: "agent" }] },
      status: { phase: "Failed", reason: "Evicted" },
    });
    const startRequestedAt = Date.parse("2026-10-20T11:40:05.200Z");
    const record: SandboxRecord = { phase: "Ready", desired: "running", since: 0, startRequestedAt };
    const end = (object: Json, of: SandboxRecord): ReturnType<typeof observePod> =>
      observePod({ pod: object }, { run: expectedRun(of) });

    it("is this run's by its instance, as a pod of a warm pool's", () => {
      const starting = { ...record, phase: "Starting", expectedInstanceId: "i-2" } as const;
      const named = (id: string): Json => evicted({ labels: { "slipway.dev/instance-id": id } });
      expect(end(named("i-2"), starting)).toMatchObject({
        completed: true,
        failureReason: "Evicted",
        stale: false,
      });
      expect(end(named("i-1"), starting)).toMatchObject({ completed: false, stale: true });
      expect(end(evicted(), starting)).toMatchObject({ completed: false, stale: true });
    });

    it("is this run's where the run was usable, whenever its start was asked for again", () => {
      for (const phase of ["Ready", "Stopping"] as const)
        expect(end(evicted(), { ...record, phase })).toMatchObject({
          completed: true,
          failureReason: "Evicted",
        });
      for (const phase of ["Starting", "Provisioning", "Unknown"] as const)
        expect(end(evicted(), { ...record, phase })).toMatchObject({ completed: false, stale: true });
      // A time of its own still decides, and so does another instance.
      const dated = pod({ phase: "Failed", main: terminated(1) });
      expect(end(dated, record).completed).toBe(false);
      const named = evicted({ labels: { "slipway.dev/instance-id": "i-1" } });
      expect(end(named, { ...record, instanceId: "i-2" }).completed).toBe(false);
    });

    it("is this run's where the gateway's clock is a few seconds ahead", () => {
      const refused = evicted({ creationTimestamp: "2026-10-20T11:40:01Z" });
      const status = {
        ...(refused["status"] as Json),
        conditions: [{ type: "PodScheduled", lastTransitionTime: "2026-10-20T11:40:01Z" }],
      };
      const starting = { ...record, phase: "Starting" } as const;
      expect(end(refused, starting).completed).toBe(true);
      expect(end({ ...refused, status }, starting).completed).toBe(true);
      const later = { ...starting, startRequestedAt: startRequestedAt + 2_000 };
      expect(end({ ...refused, status }, later).completed).toBe(false);
    });
  });
});

describe("a pod that was not found, or not asked about", () => {
  it("is gone by a definite answer only, also where the answer came in its place", () => {
    expect(observePod({ pod: null, error: { statusCode: 404 } }).exists).toBe(false);
    expect(observePod({ pod: null, error: { statusCode: 500 } }).exists).toBeNull();
    expect(observePod({ pod: null }).exists).toBeNull();
    const status = {
      kind: "Status",
      status: "Failure",
      reason: "NotFound",
      code: 404,
      details: { name: "sb" },
    };
    expect(observePod({ pod: status }).exists).toBe(false);
    expect(observePod({ pod: { ...status, reason: "Forbidden", code: 403 } }).exists).toBeNull();
  });
});

describe("a pod that lives", () => {
  const ready = (status: string, reason = ""): Json => ({ type: "Ready", status, reason });
  const up = { phase: "Running", main: { running: {} } };

  it.each<[string, Shape, Partial<Observation>]>([
    [
      "ready",
      { ...up, conditions: [ready("True", "AllUp")] },
      { running: true, ready: true, readiness: "signal" },
    ],
    [
      "not ready, with the condition's word",
      { ...up, conditions: [ready("False", "ContainersNotReady")] },
      { running: true, ready: false, readiness: "signal", backendReason: "ContainersNotReady" },
    ],
    [
      "of unknown readiness",
      { ...up, conditions: [ready("Unknown", "SomethingNew")] },
      { running: true, ready: null, readiness: "unreadable", backendReason: null, failureReason: null },
    ],
    [
      "ready by its condition, though the node was silent before",
      { ...up, conditions: [ready("True", "NodeNotReady")] },
      { running: true, ready: true, failureReason: null },
    ],
    [
      "waiting, with the container's word and not the condition's",
      { main: waiting("ContainerCreating"), conditions: [ready("False", "ContainersNotReady")] },
      { running: false, ready: false, backendReason: "ContainerCreating" },
    ],
    [
      "going away, without a word for it",
      {
        ...up,
        deletionTimestamp: "2026-10-20T11:26:10Z",
        conditions: [ready("False", "ContainersNotReady")],
      },
      { running: true, ready: false, terminating: true, backendReason: null, failureReason: null },
    ],
    ["that nobody has seen run yet", { phase: "" }, { running: false, completed: false }],
    ["pending without containers", { phase: "Pending" }, { running: false, failureReason: null }],
    ["running without a container that is told", { phase: "Running" }, { running: true }],
    [
      "running with a container of an unknown state, and no word on readiness",
      { phase: "Running", main: {} },
      { running: null },
    ],
    [
      "running with a container of an unknown state, and ready",
      { phase: "Running", main: {}, conditions: [ready("True")] },
      { running: true, ready: true },
    ],
    [
      "of a phase of tomorrow, whose container runs",
      { phase: "Dreaming", main: { running: {} } },
      { running: true },
    ],
    [
      "between two runs after a failure",
      { phase: "Running", main: terminated(1), restartPolicy: "Always" },
      { running: false, failureReason: "CrashLoop", failureClass: "transient", backendReason: "Error" },
    ],
    [
      "between two runs after a success",
      { phase: "Running", main: terminated(0, "Completed"), restartPolicy: "Always" },
      { running: false, failureReason: null, failureClass: null, backendReason: "Completed" },
    ],
    [
      "without a node, for a reason of tomorrow",
      { conditions: [{ type: "PodScheduled", status: "False", reason: "NoNodeOfTomorrow" }] },
      { running: false, failureReason: null, failureClass: "transient", backendReason: "NoNodeOfTomorrow" },
    ],
    [
      "with a node",
      { conditions: [{ type: "PodScheduled", status: "True", reason: "Unschedulable" }] },
      { running: false, failureReason: null, failureClass: null, backendReason: null },
    ],
  ])("%s", (_name, shape, facts) => {
    expect(see(shape)).toMatchObject({ completed: false, stale: false, ...facts });
  });

  it.each<[string, Shape, string | null]>([
    ["its phase is unknown", { ...up, phase: "Unknown" }, null],
    ["its phase is unknown, though its container ended", { phase: "Unknown", main: terminated(1) }, null],
    ["its reason says so", { ...up, reason: "NodeLost" }, "NodeLost"],
    ["its readiness says so", { ...up, conditions: [ready("False", "NodeNotReady")] }, "NodeNotReady"],
    ["its node is lost", { ...up, conditions: [ready("Unknown", "NodeLost")] }, "NodeLost"],
    [
      "its node never spoke",
      { ...up, conditions: [ready("Unknown", "NodeStatusNeverUpdated")] },
      "NodeStatusNeverUpdated",
    ],
    [
      "it is removed with its node's taint",
      {
        ...up,
        deletionTimestamp: "2026-10-20T11:26:10Z",
        conditions: [{ type: "DisruptionTarget", status: "True", reason: "DeletionByTaintManager" }],
      },
      "DeletionByTaintManager",
    ],
    [
      "it is collected after its node",
      {
        ...up,
        deletionTimestamp: "2026-10-20T11:26:10Z",
        conditions: [{ type: "DisruptionTarget", status: "True", reason: "DeletionByPodGC" }],
      },
      "DeletionByPodGC",
    ],
  ])("is lost with its node where %s", (_name, shape, backendReason) => {
    expect(see(shape)).toMatchObject({
      running: null,
      completed: false,
      failureReason: "NodeLost",
      failureClass: "transient",
      backendReason,
    });
  });

  it("is not lost where its container has ended, where nothing removes it, or in time", () => {
    const taken = [{ type: "DisruptionTarget", status: "True", reason: "DeletionByTaintManager" }];
    expect(see({ ...up, conditions: taken }).running).toBe(true);
    const going = { deletionTimestamp: "2026-10-20T11:26:10Z", restartPolicy: "Always", conditions: taken };
    expect(see({ ...up, ...going, main: terminated(1) }).running).toBe(false);
    expect(see({ phase: "Pending", ...going }).running).toBe(false);
    const overdue = Date.parse(going.deletionTimestamp) + 300_000;
    const alone = { ...up, deletionTimestamp: going.deletionTimestamp };
    expect(see(alone, { observedAt: overdue }).running).toBe(true);
    expect(see(alone, { observedAt: overdue + 1 }).running).toBeNull();
    expect(see({ ...alone, deletionTimestamp: "soon" }, { observedAt: overdue + 1 }).running).toBe(true);
  });

  it("shows its generation, its conditions and its run, by an annotation before a label", () => {
    const conditions = [{ type: "Ready", status: "True", reason: "AllUp", message: "well" }];
    const key = "slipway.dev/instance-id";
    const metadata = { generation: 4, annotations: { [key]: "i-1" }, labels: { [key]: "i-2" } };
    expect(observePod({ pod: { metadata, status: { conditions } } })).toMatchObject({
      generation: 4,
      instanceId: "i-1",
      conditions: [{ type: "Ready", status: "True", reason: "AllUp", message: "well" }],
    });
  });

  it("is ready by its condition, and fails its probe only after it has started", () => {
    const up = { phase: "Running", main: { running: {} } };
    expect(see({ ...up, ready: true, started: true, conditions: [ready("True")] }).ready).toBe(true);
    expect(
      see({ ...up, started: true, conditions: [ready("False", "ContainersNotReady")] }).failureReason,
    ).toBe("HealthCheckFailed");
    expect(
      see({ ...up, started: false, conditions: [ready("False", "ContainersNotReady")] }).failureReason,
    ).toBeNull();
    expect(
      see({ ...up, ready: true, started: true, conditions: [ready("False", "ReadinessGatesNotReady")] })
        .failureReason,
    ).toBeNull();
    expect(see({ ...up, conditions: [] })).toMatchObject({
      running: true,
      ready: null,
      readiness: "unreadable",
    });
  });

  it("waits for a node without running", () => {
    const scheduled = (reason: string): Json[] => [{ type: "PodScheduled", status: "False", reason }];
    expect(see({ conditions: scheduled("Unschedulable") })).toMatchObject({
      running: false,
      failureReason: "Unschedulable",
      failureClass: "transient",
    });
    expect(see({ conditions: scheduled("SchedulingGated") })).toMatchObject({
      failureReason: null,
      failureClass: null,
      backendReason: "SchedulingGated",
    });
  });

  it("is of an unknown state when its phase word is unknown, and nothing moves", () => {
    expect(see({ phase: "Dreaming" })).toMatchObject({ running: null });
    expect(phaseOf({ phase: "Dreaming" })).toBe("Starting");
    expect(phaseOf({ phase: "Unknown" })).toBe("Unknown");
  });

  it("is lost with its node only when somebody says so, or when its deletion is long overdue", () => {
    const up = { phase: "Running", main: { running: {} }, deletionTimestamp: "2026-10-20T11:26:10Z" };
    expect(see(up)).toMatchObject({ running: true, terminating: true });
    const late = { observedAt: Date.parse("2026-10-20T12:00:00Z") };
    expect(see(up, late)).toMatchObject({ running: null, failureReason: "NodeLost" });
    const soon = { observedAt: Date.parse("2026-10-20T11:26:40Z") };
    expect(see(up, soon).running).toBe(true);
    const silent = { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" };
    expect(see({ ...up, conditions: [silent] })).toMatchObject({ running: null, failureReason: "NodeLost" });
  });

  it("that goes away and is older than the start is the previous run's", () => {
    const old = pod({ phase: "Running", main: { running: {} }, deletionTimestamp: "2026-10-20T12:00:29Z" });
    old["metadata"] = { ...(old["metadata"] as Json), creationTimestamp: "2026-10-20T09:00:00Z" };
    const run = { startRequestedAt: Date.parse("2026-10-20T11:59:59Z"), desired: "running" as const };
    const observation = observePod({ pod: old }, { run });
    expect(observation.stale).toBe(true);
    expect(
      derivePhase({ record: { phase: "Starting", desired: "running", since: 0 }, observation, now: 0 }).phase,
    ).toBe("Starting");
  });
});

describe("a pod that goes away", () => {
  const going = (creationTimestamp: string, labels: Json = {}): Json => {
    const old = pod({ phase: "Running", main: { running: {} }, deletionTimestamp: "2026-10-20T12:00:29Z" });
    return { ...old, metadata: { ...(old["metadata"] as Json), creationTimestamp, labels } };
  };
  const run = { startRequestedAt: Date.parse("2026-10-20T11:59:59.500Z") };

  it("is this run's by its instance, or where only the clocks differ", () => {
    const named = going("2026-10-20T09:00:00Z", { "slipway.dev/instance-id": "i-2" });
    expect(observePod({ pod: named }, { run: { ...run, instanceId: "i-2" } }).stale).toBe(false);
    expect(observePod({ pod: named }, { run: { ...run, instanceId: "i-3" } }).stale).toBe(true);
    expect(observePod({ pod: named }, { run }).stale).toBe(true);
    expect(observePod({ pod: going("2026-10-20T11:59:54Z") }, { run }).stale).toBe(false);
    expect(observePod({ pod: going("2026-10-20T11:59:53Z") }, { run }).stale).toBe(true);
  });
});

describe("init containers", () => {
  it("hold the main one up, each for its reason", () => {
    const main = waiting("PodInitializing");
    expect(see({ main, init: waiting("CrashLoopBackOff") })).toMatchObject({
      failureReason: "InitFailed",
      failureClass: "transient",
    });
    expect(see({ main, init: waiting("ImagePullBackOff") })).toMatchObject({
      failureReason: "ImagePullFailed",
    });
    expect(see({ main, init: terminated(2) })).toMatchObject({
      failureReason: "InitFailed",
      completed: false,
    });
    expect(see({ main, init: terminated(2), phase: "Failed" })).toMatchObject({
      failureReason: "InitFailed",
      completed: true,
      exitCode: 2,
    });
    expect(see({ main, init: { running: {} } })).toMatchObject({ failureReason: null, running: false });
  });

  it.each<[string, Json, string | null, string | null]>([
    ["is done", terminated(0, "Completed"), null, "PodInitializing"],
    ["waits for its turn", waiting("PodInitializing"), null, "PodInitializing"],
    ["waits without a word", waiting(""), null, "PodInitializing"],
    ["runs, whatever it says beside", { running: { reason: "Odd" } }, null, "PodInitializing"],
    ["has no state", {}, null, "PodInitializing"],
    ["ended without a code", { terminated: { reason: "Lost" } }, "InitFailed", "Lost"],
    ["waits for a reason of tomorrow", waiting("OfTomorrow"), null, "OfTomorrow"],
    ["waits in an ordinary way", waiting("ContainerCreating"), null, "PodInitializing"],
    ["waits for what has no effect on it", waiting("KillContainerError"), null, "PodInitializing"],
  ])("that %s", (_name, init, failureReason, backendReason) => {
    expect(see({ main: waiting("PodInitializing"), init })).toMatchObject({
      running: false,
      failureReason,
      backendReason,
    });
  });

  it("are gone through in the order of the specification, then of their names", () => {
    const failed = (name: string, reason: string): Json => ({ name, state: terminated(1, reason) });
    const statuses = [
      failed("a", "A"),
      failed("z", "Z"),
      failed("b", "B"),
      { name: "ok", state: terminated(0) },
    ];
    const of = (declared: readonly string[], initContainerStatuses: readonly Json[]): string | null => {
      const spec = { initContainers: declared.map((name) => ({ name })) };
      return observePod({ pod: { spec, status: { initContainerStatuses } } }).backendReason;
    };
    for (const list of [statuses, [...statuses].reverse()]) {
      expect(of(["ok", "z", "b"], list)).toBe("Z");
      expect(of(["ok", "missing"], list)).toBe("A");
      expect(of([], list)).toBe("A");
    }
  });
});

describe("the main container", () => {
  const status = (name: string, state: Json): Json => ({ name, state, ready: false, started: false });

  it("is the annotated one, else the first declared, else the only one there is", () => {
    const statuses = [status("a", { running: {} }), status("b", terminated(3))];
    const spec = { restartPolicy: "Never", containers: [{ name: "b" }, { name: "a" }] };
    const annotations = { "kubectl.kubernetes.io/default-container": "a" };
    const of = (more: Json): ReturnType<typeof observePod> =>
      observePod({ pod: { status: { phase: "Running", containerStatuses: statuses }, ...more } });
    expect(of({ spec }).exitCode).toBe(3);
    expect(of({ spec, metadata: { annotations } })).toMatchObject({ running: true, completed: false });
    // An annotation that names none of the pod's containers is none.
    const stray = { "kubectl.kubernetes.io/default-container": "c" };
    expect(of({ spec, metadata: { annotations: stray } }).exitCode).toBe(3);
    // One that has no status yet is not replaced by another.
    const late = { ...spec, containers: [{ name: "c" }, { name: "a" }] };
    expect(of({ spec: late }).running).toBeNull();
    // Without a specification two statuses say nothing of which one is meant.
    expect(of({}).running).toBeNull();
    expect(
      observePod({ pod: { status: { phase: "Running", containerStatuses: [statuses[0]] } } }).running,
    ).toBe(true);
  });
});

it("reads a pod with more conditions than a call takes arguments", () => {
  const one = { type: "PodScheduled", status: "True", lastTransitionTime: "2026-10-20T11:40:02Z" };
  const conditions = Array.from({ length: 300_000 }, () => one);
  expect(observePod({ pod: { status: { phase: "Failed", reason: "Evicted", conditions } } }).completed).toBe(
    true,
  );
});
