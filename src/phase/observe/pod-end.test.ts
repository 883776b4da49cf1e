import { describe, expect, it } from "vitest";
import { type Json, phaseOf, pod, see, type Shape, terminated, waiting } from "../../../test/phase/pods.js";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import { expectedRun, type SandboxRecord } from "../record.js";
import { observePod } from "./pod.js";

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
