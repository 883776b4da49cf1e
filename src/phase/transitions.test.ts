import { describe, expect, it } from "vitest";
import { isSlipwayError } from "../errors.js";
import { acceptOperation, applyBackendMismatch } from "./accept-operation.js";
import { allowedOperations } from "./gates/index.js";
import { applyExitReport } from "./apply-exit-report.js";
import { applySession } from "./apply-session.js";
import { absent, present, type Observation } from "./observation.js";
import { phases } from "./phase.js";
import { reconcileRecord } from "./reconcile-record.js";
import type { SandboxRecord } from "./record.js";
import { planRecovery } from "./recovery.js";
import { resolveFailedOperation } from "./resolve-failed-operation.js";

const record = (phase: SandboxRecord["phase"], more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase,
  desired:
    phase === "Stopping" || phase === "Stopped" ? "stopped" : phase === "Deleting" ? "deleted" : "running",
  since: 0,
  ...more,
});

const seen = (more: Partial<Observation>): Observation => ({ ...present(null), ...more });

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

describe("sessions", () => {
  it("do not pass a deadline, an admission or a deadline's earlier phase", () => {
    const session = { connected: true, instanceId: "i-1" };
    expect(
      applySession(record("Starting", { deadline: { deadlineAt: 10, lastPhase: true } }), session, 10)
        .refused,
    ).toBe("expired");
    expect(
      applySession(record("Starting", { deadline: { deadlineAt: 10, lastPhase: true } }), session, 9).record
        .phase,
    ).toBe("Ready");
    expect(
      applySession(record("Starting", { deadline: { deadlineAt: 10, lastPhase: false } }), session, 9)
        .refused,
    ).toBe("not-admitted");
    for (const admission of ["pending", "rejected"] as const)
      expect(applySession(record("Starting", { admission }), session, 9).refused).toBe("not-admitted");
    expect(applySession(record("Provisioning", { desired: "stopped" }), session, 9).refused).toBe(
      "not-desired",
    );
  });

  it("complete a start only for the run that the start was given", () => {
    const waiting = record("Starting", { instanceId: "i-1", expectedInstanceId: "i-2" });
    expect(applySession(waiting, { connected: true, instanceId: "i-1" }, 1).refused).toBe("other-run");
    const done = applySession(waiting, { connected: true, instanceId: "i-2" }, 1).record;
    expect(done).toMatchObject({ phase: "Ready", instanceId: "i-2", expectedInstanceId: null, since: 1 });
    expect(applySession(done, { connected: true, instanceId: "i-2" }, 2).record).toBe(done);
  });

  it("that were superseded do not demote, and a newer supervisor takes over", () => {
    const ready = record("Ready", { instanceId: "i-2" });
    expect(applySession(ready, { connected: false, instanceId: "i-1" }, 1)).toMatchObject({
      changed: false,
      refused: "superseded",
    });
    expect(applySession(ready, { connected: false, instanceId: "i-2" }, 1).record.phase).toBe("Provisioning");
    expect(applySession(ready, { connected: true, instanceId: "i-3" }, 1).record).toMatchObject({
      phase: "Ready",
      instanceId: "i-3",
      since: 0,
    });
  });
});

describe("exit reports", () => {
  it("count for the run that a start was given, and for no other", () => {
    const waiting = record("Starting", { instanceId: "i-1", expectedInstanceId: "i-2" });
    expect(applyExitReport(waiting, { instanceId: "i-1", exitCode: 1 }, 5).refused).toBe("other-run");
    expect(applyExitReport(waiting, { instanceId: "i-3", exitCode: 1 }, 5).refused).toBe("other-run");
    expect(applyExitReport(waiting, { instanceId: "i-2", exitCode: 1 }, 5).record).toMatchObject({
      phase: "Error",
      exitCode: 1,
      instanceId: "i-2",
      finishedAt: 5,
    });
  });

  it("add the code to an infrastructure error and keep its reason", () => {
    const failed = record("Error", { reason: "ImagePullFailed", instanceId: "i-1" });
    expect(
      applyExitReport(failed, { instanceId: "i-1", exitCode: 3, finishedAt: 4 }, 5).record,
    ).toMatchObject({ phase: "Error", reason: "ImagePullFailed", exitCode: 3, finishedAt: 4 });
  });

  it.each(["OutOfMemory", "OOMKilled", "Killed", "VmmExited", "ContainerStopped", "ContainerRuntimeRestart"])(
    "do not make a success of what names a cause: %s",
    (reason) => {
      const failed = record("Error", { reason, instanceId: "i-1" });
      for (const exitCode of [0, 7])
        expect(applyExitReport(failed, { instanceId: "i-1", exitCode }, 5).record).toMatchObject({
          phase: "Error",
          reason,
          exitCode,
        });
    },
  );

  it.each(["ContainerExited", "ProcessExited"])(
    "say what an end was that nothing else is known of: %s",
    (reason) => {
      const failed = record("Error", { reason, instanceId: "i-1" });
      const told = (exitCode: number): SandboxRecord =>
        applyExitReport(failed, { instanceId: "i-1", exitCode }, 5).record;
      expect(told(0)).toMatchObject({ phase: "Completed", exitCode: 0 });
      expect(told(7)).toMatchObject({ phase: "Error", reason: "MainProcessFailed", exitCode: 7 });
    },
  );

  it("correct a completion that was claimed without a code", () => {
    expect(applyExitReport(record("Completed"), { instanceId: null, exitCode: 3 }, 5).record).toMatchObject({
      phase: "Error",
      reason: "MainProcessFailed",
    });
    expect(
      applyExitReport(record("Completed", { exitCode: 0 }), { instanceId: null, exitCode: 3 }, 5).refused,
    ).toBe("first-code-wins");
  });

  it.each([
    [0, { phase: "Completed", reason: "MainProcessCompleted" }],
    [143, { phase: "Error", reason: "MainProcessFailed" }],
  ])("end what somebody else stops (%i), and not what was asked to stop", (exitCode, ended) => {
    const report = { instanceId: "i-1", exitCode };
    const stopping = (desired: "running" | "stopped" | "deleted"): SandboxRecord =>
      record("Stopping", { desired, instanceId: "i-1" });
    expect(applyExitReport(stopping("running"), report, 5).record).toMatchObject({
      ...ended,
      exitCode,
      finishedAt: 5,
    });
    for (const desired of ["stopped", "deleted"] as const)
      expect(applyExitReport(stopping(desired), report, 5)).toMatchObject({
        changed: false,
        refused: "phase",
      });
  });

  it("with a code that is none are a mistake", () => {
    for (const exitCode of [Number.NaN, 1.5, Number.POSITIVE_INFINITY]) {
      try {
        applyExitReport(record("Ready"), { instanceId: null, exitCode }, 5);
        expect.unreachable();
      } catch (error) {
        expect(isSlipwayError(error) && error.code).toBe("INVALID_EVENT");
        expect(isSlipwayError(error) && error.field).toBe("exitCode");
      }
    }
  });

  it("that count finer than in milliseconds end in the millisecond that had begun", () => {
    for (const [finishedAt, kept] of [
      [1_800_000_000_000.75, 1_800_000_000_000],
      [1.5, 1],
    ] as const) {
      const report = { instanceId: null, exitCode: 0, finishedAt };
      expect(applyExitReport(record("Ready"), report, 5).record.finishedAt).toBe(kept);
      const failed = record("Error", { reason: "ImagePullFailed" });
      expect(applyExitReport(failed, report, 5).record.finishedAt).toBe(kept);
    }
  });

  it("of what the gateway's own shutdown ended are no result", () => {
    const stopped = record("Ready", { instanceId: "i-1", shutdownStopAt: 1_000_500 });
    for (const exitCode of [0, 143])
      for (const finishedAt of [1_000_500, 1_000_501, 1_000_000, null]) {
        const outcome = applyExitReport(stopped, { instanceId: "i-1", exitCode, finishedAt }, 1_000_600);
        expect(outcome).toEqual({ record: stopped, changed: false, refused: "shutdown" });
      }
    const before = { instanceId: "i-1", exitCode: 0, finishedAt: 1_000_499 };
    expect(applyExitReport(stopped, before, 1_000_600).record.phase).toBe("Completed");
  });

  it.each([Number.NaN, Number.NEGATIVE_INFINITY, 1e300, Number.POSITIVE_INFINITY, "2026-10-20T11:40:02Z"])(
    "that ended at no instant are a mistake: %s",
    (finishedAt) => {
      const report = { instanceId: null, exitCode: 0, finishedAt: finishedAt as number };
      expect(() => applyExitReport(record("Ready"), report, 5)).toThrow(
        /exit report: finishedAt must be a number of epoch milliseconds/,
      );
    },
  );
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

describe("failed operations", () => {
  it.each<[string, SandboxRecord, SandboxRecord, "start" | "stop" | "delete", Observation | null, string]>([
    ["start, backend gone", record("Starting"), record("Stopped"), "start", absent(null), "Error"],
    [
      "start, run of before still there",
      record("Starting"),
      record("Stopped"),
      "start",
      seen({ running: false, completed: true, exitCode: 1 }),
      "Stopped",
    ],
    [
      "start, over by the time of the look, as the time of its end says",
      record("Starting", { startRequestedAt: 5 }),
      record("Stopped"),
      "start",
      seen({ running: false, completed: true, exitCode: 0, finishedAt: 5 }),
      "Completed",
    ],
    [
      "start, over by the time of the look, as its instance says",
      record("Starting", { startRequestedAt: 5, expectedInstanceId: "i-2" }),
      record("Stopped"),
      "start",
      seen({ running: false, completed: true, exitCode: 1, instanceId: "i-2" }),
      "Error",
    ],
    [
      "start, over by the time of the look, which saw the run of before",
      record("Starting", { startRequestedAt: 5, expectedInstanceId: "i-2" }),
      record("Stopped"),
      "start",
      seen({ running: false, completed: true, exitCode: 1, instanceId: "i-1", finishedAt: 4 }),
      "Stopped",
    ],
    [
      "start, refused for good",
      record("Starting"),
      record("Stopped"),
      "start",
      seen({ running: false, failureReason: "ContainerStartFailed", failureClass: "terminal" }),
      "Error",
    ],
    [
      "start, overtaken by a stop",
      record("Stopping"),
      record("Stopped"),
      "start",
      seen({ running: true }),
      "Stopping",
    ],
    [
      "stop, still running untouched",
      record("Stopping"),
      record("Ready"),
      "stop",
      seen({ running: true, terminating: false }),
      "Ready",
    ],
    [
      "stop, on its way",
      record("Stopping"),
      record("Ready"),
      "stop",
      seen({ running: true, terminating: true }),
      "Stopping",
    ],
    [
      "stop, done",
      record("Stopping"),
      record("Ready"),
      "stop",
      seen({ running: false, completed: true, exitCode: 143 }),
      "Stopped",
    ],
    ["stop, unknown", record("Stopping"), record("Ready"), "stop", seen({ running: null }), "Stopping"],
    [
      "stop, overtaken by a delete",
      record("Deleting"),
      record("Ready"),
      "stop",
      seen({ running: true, terminating: false }),
      "Deleting",
    ],
    [
      "delete, in progress",
      record("Deleting"),
      record("Ready"),
      "delete",
      seen({ deleting: true }),
      "Deleting",
    ],
    ["delete, gone", record("Deleting"), record("Ready"), "delete", absent(null), "Deleted"],
    [
      "delete, refused",
      record("Deleting"),
      record("Ready"),
      "delete",
      seen({ running: true, ready: true }),
      "Ready",
    ],
    [
      "delete, refused and ended meanwhile",
      record("Deleting"),
      record("Ready"),
      "delete",
      seen({ running: false, completed: true, exitCode: 0 }),
      "Completed",
    ],
    ["delete, overtaken", record("Stopping"), record("Ready"), "delete", null, "Stopping"],
  ])("%s", (_name, now, previous, operation, observation, phase) => {
    const result = resolveFailedOperation(now, previous, operation, observation, 9);
    expect(result.record.phase).toBe(phase);
    if (phase === "Ready" || phase === "Stopped")
      expect(result.record.desired).toBe(phase === "Ready" ? "running" : "stopped");
  });

  it("of a delete gives back what was Ready, also where that takes a session", () => {
    const policy = { requireSession: true };
    const ready = seen({ running: true, ready: true });
    const after = (previous: SandboxRecord): string =>
      resolveFailedOperation(record("Deleting"), previous, "delete", ready, 9, policy).record.phase;
    expect(after(record("Ready", { instanceId: "i-1" }))).toBe("Ready");
    expect(after(record("Provisioning", { instanceId: "i-1" }))).toBe("Provisioning");
    const found = (facts: Partial<Observation>): string =>
      resolveFailedOperation(record("Deleting"), record("Ready"), "delete", seen(facts), 9).record.phase;
    expect(found({ running: true, ready: false, readiness: "signal" })).toBe("Provisioning");
    expect(found({ running: false, workload: "absent" })).toBe("Provisioning");
    const empty = { running: false, suspended: true, bootstrapping: false, workload: "absent" } as const;
    expect(found(empty)).toBe("Stopped");
    expect(found({ running: null, failureReason: "NodeLost" })).toBe("Unknown");
  });
});
