import { describe, expect, it } from "vitest";
import { record } from "../../test/phase/intended-records.js";
import { isSlipwayError } from "../errors.js";
import { applyExitReport } from "./apply-exit-report.js";
import { applySession } from "./apply-session.js";
import type { SandboxRecord } from "./record.js";

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
