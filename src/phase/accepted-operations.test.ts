import { describe, expect, it } from "vitest";
import { record, seen } from "../../test/phase/intended-records.js";
import { acceptOperation, applyBackendMismatch } from "./accept-operation.js";
import { allowedOperations } from "./gates/index.js";
import { absent } from "./observation.js";
import { phases } from "./phase.js";
import { reconcileRecord } from "./reconcile-record.js";
import type { SandboxRecord } from "./record.js";
import { planRecovery } from "./recovery.js";

describe("a retry of a start", () => {
  it("is a new start over what the gateway's own shutdown has stopped, under the same instance id", () => {
    const route = { allowed: true, route: "retry", rule: "start-retry" } as const;
    const starting = record("Starting", { startRequestedAt: 3, expectedInstanceId: "i-2" });
    const again = acceptOperation(starting, "start", route, { now: 9, instanceId: "i-3" }).record;
    expect(again).toMatchObject({ startRequestedAt: 3, expectedInstanceId: "i-2", shutdownStopAt: null });
    const marked = { ...starting, shutdownStopAt: 5 };
    const after = acceptOperation(marked, "start", route, { now: 9, instanceId: "i-3" }).record;
    expect(after).toMatchObject({ startRequestedAt: 9, expectedInstanceId: "i-2", shutdownStopAt: null });
  });
});

describe("accepted operations", () => {
  const accept = (
    from: SandboxRecord,
    operation: "start" | "stop" | "delete",
    instanceId?: string,
  ): SandboxRecord => {
    const gate = allowedOperations({ record: from, by: "user", now: 9 })[operation];
    return acceptOperation(from, operation, gate, { now: 9, instanceId }).record;
  };

  it("fence the previous run off and never touch identity", () => {
    const failed = record("Error", {
      reason: "MainProcessFailed",
      exitCode: 7,
      finishedAt: 5,
      instanceId: "i-1",
    });
    expect(accept(failed, "start", "i-2")).toMatchObject({
      phase: "Starting",
      desired: "running",
      startRequestedAt: 9,
      previousFinishedAt: 5,
      exitCode: null,
      finishedAt: null,
      instanceId: "i-1",
      expectedInstanceId: "i-2",
    });
  });

  it("repeat a start under the id and the moment that it had", () => {
    const waiting = record("Starting", {
      startRequestedAt: 3,
      expectedInstanceId: "i-2",
      previousFinishedAt: 1,
    });
    expect(accept(waiting, "start", "i-3")).toMatchObject({
      startRequestedAt: 3,
      expectedInstanceId: "i-2",
      previousFinishedAt: 1,
      since: 0,
    });
  });

  it("write the intent of a stop and of a delete, and nothing for what is so already", () => {
    expect(accept(record("Ready"), "stop")).toMatchObject({
      phase: "Stopping",
      desired: "stopped",
      since: 9,
    });
    expect(accept(record("Error"), "delete")).toMatchObject({ phase: "Deleting", desired: "deleted" });
    for (const [from, operation] of [
      [record("Ready"), "start"],
      [record("Stopped"), "stop"],
      [record("Stopping"), "stop"],
      [record("Deleting"), "delete"],
      [record("Deleting"), "start"],
    ] as const)
      expect(accept(from, operation)).toBe(from);
  });

  it("leave their intent in the record, from every phase and intent that lets them through", () => {
    const intents = { start: "running", stop: "stopped", delete: "deleted" } as const;
    const looks = [null, seen({ deleting: false }), seen({ running: true })];
    let alone = 0;
    for (const phase of phases)
      for (const desired of ["running", "stopped", "deleted"] as const)
        for (const exitCode of [null, 3])
          for (const observation of looks)
            for (const operation of ["start", "stop", "delete"] as const) {
              const from = record(phase, { desired, exitCode, updatedAt: 1 });
              const gate = allowedOperations({ record: from, observation, by: "user", now: 9 })[operation];
              const { record: to, changed } = acceptOperation(from, operation, gate, { now: 9 });
              if (!gate.allowed) {
                expect(to).toBe(from);
                continue;
              }
              expect(to.desired).toBe(intents[operation]);
              const quiet = gate.route === "noop" || (gate.route === "retry" && operation !== "start");
              if (!quiet) continue;
              if (desired === intents[operation]) expect(to).toBe(from);
              else {
                expect(changed).toBe(true);
                expect(to).toEqual({ ...from, desired: intents[operation], updatedAt: 9 });
                alone += 1;
              }
            }
    expect(alone).toBeGreaterThan(10);
  });

  it("keep a stop that somebody else had begun, when the run comes up again", () => {
    const asked = accept(record("Stopping", { desired: "running" }), "stop");
    const back = reconcileRecord(asked, seen({ running: true, ready: true, readiness: "signal" }), null, 10);
    expect(back.record).toMatchObject({ phase: "Stopping", desired: "stopped" });
    const down = accept(record("Stopped", { desired: "running", reason: "BackendEmpty" }), "stop");
    const up = reconcileRecord(down, seen({ running: true, ready: true, readiness: "signal" }), null, 10);
    expect(up.record.phase).toBe("Stopped");
    expect(up.decision.effects).toContain("stop-workload");
  });

  it("keep a delete that somebody else had begun, when the object stays", () => {
    const asked = accept(record("Deleting", { desired: "running" }), "delete");
    const back = reconcileRecord(
      asked,
      seen({ deleting: false, running: true, ready: true, readiness: "signal" }),
      null,
      10,
    );
    expect(back.record).toMatchObject({ phase: "Deleting", desired: "deleted" });
  });

  it("of a stop keep the result that was there, and nothing but a user starts it again", () => {
    const policy = { recoverable: ["Evicted", "MainProcessCompleted"] };
    for (const from of [
      record("Completed", { reason: "MainProcessCompleted", exitCode: 0, instanceId: "i-1" }),
      record("Error", { reason: "Evicted", exitCode: 137, instanceId: "i-1" }),
    ]) {
      const ask = (of: SandboxRecord, by: "user" | "automatic"): boolean =>
        allowedOperations({ record: of, by, now: 10, policy }).start.allowed;
      expect(ask(from, "automatic")).toBe(true);
      const stopped = accept(from, "stop");
      expect(ask(stopped, "automatic")).toBe(false);
      expect(ask(stopped, "user")).toBe(true);
      expect(planRecovery(stopped, { managesLifecycle: true, policy, now: 10 }).call).toBeNull();
      for (const look of [
        seen({ running: false, completed: true, exitCode: 0 }),
        seen({}),
        absent(null),
        null,
      ])
        expect(reconcileRecord(stopped, look, null, 10, policy).record).toBe(stopped);
      const runs = reconcileRecord(stopped, seen({ running: true }), null, 10, policy).record;
      expect(runs.phase).toBe("Stopping");
    }
  });

  it("mark a mismatch on a start that is waiting, and nowhere else", () => {
    expect(applyBackendMismatch(record("Starting"), 9).record).toMatchObject({
      phase: "Error",
      reason: "IsolationBackendMismatch",
      conditions: [
        { type: "Ready", status: "False", reason: "IsolationBackendMismatch" },
        { type: "IsolationBackendMatched", status: "False", reason: "IsolationBackendMismatch" },
      ],
    });
    const admitted = { type: "Admitted", status: "True", reason: "Fits", message: "" } as const;
    const conditions = [{ ...admitted, lastTransitionTime: "2026-10-20T11:40:02Z" }];
    expect(applyBackendMismatch(record("Starting", { conditions }), 9).record.conditions).toMatchObject([
      admitted,
      { type: "Ready" },
      { type: "IsolationBackendMatched" },
    ]);
    for (const phase of phases.filter((phase) => phase !== "Starting"))
      expect(applyBackendMismatch(record(phase), 9)).toMatchObject({ changed: false, refused: "phase" });
    for (const desired of ["stopped", "deleted"] as const)
      expect(applyBackendMismatch(record("Starting", { desired }), 9)).toMatchObject({
        changed: false,
        refused: "phase",
      });
    // The scan at the start found it, nothing timed out: no contract shows a timeout.
    const found = applyBackendMismatch(record("Starting", { conditions: [] }), 9).record;
    const message =
      "The isolation backend that this sandbox is pinned to is not the one selected: restore the gateway's selection or create a new sandbox.";
    expect(found.message).toBe(message);
    expect(JSON.stringify(found.conditions)).not.toContain("TimedOut");
    expect(found.conditions).toMatchObject([{ message }, { message }]);
  });

  it("say what was accepted, and a start of what has nothing begins to provision", () => {
    expect(accept(record("Ready"), "stop")).toMatchObject({
      reason: "Stopping",
      message: "Stop was accepted.",
    });
    expect(accept(record("Ready"), "delete")).toMatchObject({
      phase: "Deleting",
      reason: "Deleting",
      message: "Delete was accepted.",
      since: 9,
    });
    const gone = record("Error", { reason: "BackendResourceMissing" });
    const gate = { allowed: true, route: "fresh", reason: null, advice: "" } as const;
    const fresh = acceptOperation(gone, "start", { ...gate } as never, { now: 9 }).record;
    expect(fresh).toMatchObject({
      phase: "Provisioning",
      reason: "Starting",
      message: "Start was accepted.",
    });
    expect(accept(record("Stopped"), "start")).toMatchObject({ phase: "Starting", reason: "Starting" });
  });

  it("refuse with the gate's own reason", () => {
    const gate = allowedOperations({ record: record("Deleting"), by: "user", now: 9 }).start;
    if (gate.allowed) throw new Error("it is being deleted");
    expect(acceptOperation(record("Deleting"), "start", gate, { now: 9 }).refused).toBe(gate.reason);
  });
});
