import { describe, expect, it } from "vitest";
import { applyExitReport } from "./apply-exit-report.js";
import type { SandboxRecord } from "./record.js";

const NOW = 1_800_000_000_000;
const record = (more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  ...{ phase: "Ready", desired: "running", since: NOW - 10_000, instanceId: "i-1" },
  ...more,
});
const report = { instanceId: "i-1", exitCode: 0, finishedAt: NOW - 5 };

describe("the end of a main process", () => {
  it("with success completes the sandbox", () => {
    const before = record({ expectedInstanceId: "i-1" });
    expect(applyExitReport(before, report, NOW)).toMatchObject({
      changed: true,
      refused: null,
      record: {
        ...{ phase: "Completed", reason: "MainProcessCompleted", since: NOW },
        message: "The main process ended with success.",
        ...{ instanceId: "i-1", expectedInstanceId: null, exitCode: 0, finishedAt: NOW - 5 },
      },
    });
  });

  it("with another code is an error that says it", () => {
    expect(applyExitReport(record(), { ...report, exitCode: 3 }, NOW).record).toMatchObject({
      ...{ phase: "Error", reason: "MainProcessFailed", exitCode: 3 },
      message: "The main process ended with exit code 3.",
    });
  });

  it.each([
    ["what is finer than milliseconds cut off", { ...report, finishedAt: NOW - 4.5 }, {}, NOW - 5],
    ["now where it says no time", { ...report, finishedAt: undefined }, {}, NOW],
    ["the time that is known", report, { finishedAt: NOW - 50 }, NOW - 50],
    [
      "its own where the known one is of the run before",
      report,
      { phase: "Starting", instanceId: "i-0", finishedAt: 9 },
      NOW - 5,
    ],
  ] as readonly [string, typeof report, Partial<SandboxRecord>, number][])(
    "is dated: %s",
    (_, given, more, finishedAt) => {
      expect(applyExitReport(record(more), given, NOW).record.finishedAt).toBe(finishedAt);
    },
  );

  it.each([
    ["a stop that was asked for", { phase: "Stopping", desired: "stopped" }, "phase"],
    ["a stop that is done", { phase: "Stopped", desired: "stopped" }, "phase"],
    ["a deletion", { phase: "Deleting", desired: "deleted" }, "phase"],
    ["one that is deleted", { phase: "Deleted", desired: "deleted" }, "phase"],
    ["another run", { instanceId: "i-2" }, "other-run"],
    ["another run than is started", { phase: "Starting", expectedInstanceId: "i-2" }, "other-run"],
    ["the run before the start", { phase: "Starting" }, "other-run"],
    ["the gateway's own shutdown", { shutdownStopAt: NOW - 10 }, "shutdown"],
    ["a run whose code is known", { exitCode: 0 }, "first-code-wins"],
    ["an attempt that timed out", { phase: "Error", reason: "ImagePreparationTimedOut" }, "expired"],
    ["an admission that timed out", { phase: "Error", reason: "ProvisioningTimedOut" }, "expired"],
  ] as readonly [string, Partial<SandboxRecord>, string][])("changes nothing over %s", (_, more, refused) => {
    const before = record(more);
    expect(applyExitReport(before, report, NOW)).toEqual({ record: before, changed: false, refused });
  });

  it.each([
    ["stopping because somebody else stopped it", { phase: "Stopping" }],
    ["started with a run of that name", { phase: "Starting", expectedInstanceId: "i-1", exitCode: 7 }],
    ["started, with nothing known of a run", { phase: "Starting", instanceId: null }],
    ["of no known run", { instanceId: null }],
  ] as readonly [string, Partial<SandboxRecord>][])("is the result of one that is %s", (_, more) => {
    expect(applyExitReport(record(more), report, NOW).record).toMatchObject({
      phase: "Completed",
      exitCode: 0,
    });
  });

  it("counts where it names no run", () => {
    const { record: after } = applyExitReport(record(), { exitCode: 0, instanceId: null }, NOW);
    expect(after).toMatchObject({ phase: "Completed", instanceId: "i-1" });
  });

  it.each(["ProcessExited", "ContainerExited", undefined])("decides an error that is only %s", (reason) => {
    expect(applyExitReport(record({ phase: "Error", reason }), report, NOW).record.phase).toBe("Completed");
  });

  it("adds its code to an error with a cause of its own, and decides nothing", () => {
    const before = record({ phase: "Error", reason: "OutOfMemory" });
    expect(applyExitReport(before, { ...report, exitCode: 137 }, NOW)).toEqual({
      record: { ...before, exitCode: 137, finishedAt: NOW - 5, updatedAt: NOW },
      changed: true,
      refused: null,
    });
  });

  it.each([
    [{ ...report, exitCode: 1.5 }, "Invalid exit report: exitCode must be an integer, got 1.5"],
    [{ ...report, finishedAt: Number.NaN }, "finishedAt must be a number of epoch milliseconds"],
    [{ ...report, finishedAt: "soon" as never }, "finishedAt must be a number of epoch milliseconds"],
  ])("that is none is refused by its field: %j", (given, message) => {
    expect(() => applyExitReport(record(), given, NOW)).toThrow(message);
  });

  it("what is no record and no report is named", () => {
    expect(() => applyExitReport(null as never, report)).toThrow("record must be an object");
    expect(() => applyExitReport(record(), undefined as never)).toThrow("report must be an object");
  });
});
