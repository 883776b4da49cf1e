import { describe, expect, it } from "vitest";
import { derivePhase } from "../derive-phase.js";
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

describe("a pod that lives", () => {
  const ready = (status: string, reason = ""): Json => ({ type: "Ready", status, reason });

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
