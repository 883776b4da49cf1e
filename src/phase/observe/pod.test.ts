import { describe, expect, it } from "vitest";
import { type Json, phaseOf, pod, see, type Shape, terminated, waiting } from "../../../test/phase/pods.js";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import { expectedRun, type SandboxRecord } from "../record.js";
import { observePod } from "./pod.js";

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

  it("is this run's where the run was usable, as one of a warm pool, or one whose start was asked for again", () => {
    const old = going("2026-10-20T09:00:00Z");
    for (const [phase, next] of [
      ["Ready", "Stopping"],
      ["Stopping", "Stopping"],
      ["Starting", "Starting"],
      ["Provisioning", "Provisioning"],
    ] as const) {
      const record: SandboxRecord = { phase, desired: "running", since: 0, ...run };
      const observation = observePod({ pod: old }, { run: expectedRun(record) });
      expect([phase, derivePhase({ record, observation, now: 0 }).phase]).toEqual([phase, next]);
    }
    const ready: SandboxRecord = { phase: "Ready", desired: "running", since: 0, ...run };
    const done = pod({ phase: "Succeeded", main: terminated(0, "Completed", "2026-10-20T12:00:05Z") });
    const metadata = { ...(old["metadata"] as Json), ...(done["metadata"] as Json) };
    const deletionTimestamp = "2026-10-20T12:00:29Z";
    const ended = observePod(
      { pod: { ...done, metadata: { ...metadata, deletionTimestamp } } },
      { run: expectedRun(ready) },
    );
    expect(derivePhase({ record: ready, observation: ended, now: 0 }).phase).toBe("Completed");
  });
});

it("reads a pod with more conditions than a call takes arguments", () => {
  const one = { type: "PodScheduled", status: "True", lastTransitionTime: "2026-10-20T11:40:02Z" };
  const conditions = Array.from({ length: 300_000 }, () => one);
  expect(observePod({ pod: { status: { phase: "Failed", reason: "Evicted", conditions } } }).completed).toBe(
    true,
  );
});
