import { describe, expect, it } from "vitest";
import { phaseFacts, withFacts } from "../src/decide/phase-facts.js";
import { applyReport, type SupervisorReport } from "../src/decide/supervisor-report.js";
import type { SandboxRecord } from "../src/record/record.js";
import { NOW, recordWith } from "./records.js";

const RUN = 1;
/** A moment after its attempt began. */
const BEGUN = NOW - 59_000;
const instance = { id: "sb/r1", run: RUN, handle: null, startedAt: BEGUN, launchedAt: BEGUN };

/** What a report makes of a record, where it is taken. */
function told(record: SandboxRecord, report: SupervisorReport, at: number): SandboxRecord {
  const { record: next, result } = applyReport(record, RUN, report, at);
  expect(result).toMatchObject({ ok: true });
  return next;
}

/** It was ready; then its pod was seen to go, which nobody had asked of the gateway. */
function stoppedByOthers(desired: SandboxRecord["desired"] = "running"): SandboxRecord {
  const launched = recordWith({ run: RUN, instance });
  const accepted = told(launched, { kind: "accepted", generation: 1 }, BEGUN);
  const ready = told(accepted, { kind: "ready", generation: 1 }, BEGUN);
  expect(ready).toMatchObject({ phase: "Ready", desired: "running", deadline: { status: "completed" } });
  const stopping = { phase: "Stopping", desired, since: NOW, updatedAt: NOW } as const;
  return withFacts(ready, { ...phaseFacts(ready), ...stopping }, NOW);
}

const notReplayed: SupervisorReport = {
  kind: "bootstrap",
  succeeded: false,
  reason: "BootstrapCancelled",
  message: "The instance is active already; nothing is replayed.",
};

describe("a run that somebody else stops", () => {
  it("is over with the word of the supervisor that took its place, however early that comes", () => {
    const admitted = told(stoppedByOthers(), { kind: "accepted", generation: 1 }, NOW + 100);
    expect(admitted.phase).toBe("Stopping");
    const over = told(admitted, notReplayed, NOW + 200);
    expect(over).toMatchObject({ phase: "Error", reason: "Killed", exitCode: null, finishedAt: NOW + 200 });
  });

  it.each([
    { kind: "ready", generation: 1 },
    { kind: "accepted", generation: 1 },
    { kind: "rejected", generation: 1, reason: "Invalid", message: "no such host" },
    { kind: "enforcement-lost", message: "the sidecar ended" },
  ] as const)("keeps its supervisor while it ends, which is not ready for saying $kind", (report) => {
    expect(told(stoppedByOthers(), report, NOW + 100).phase).toBe("Stopping");
  });

  it.each([
    [
      { exitCode: null, signal: "SIGTERM" },
      { phase: "Error", reason: "MainProcessFailed" },
    ],
    [
      { exitCode: 3, signal: null },
      { phase: "Error", reason: "MainProcessFailed" },
    ],
    [
      { exitCode: 0, signal: null },
      { phase: "Completed", reason: "MainProcessCompleted" },
    ],
  ] as const)("has the result that its supervisor reports: %o", (exit, result) => {
    const { exitCode, signal: exitSignal } = exit;
    const over = told(stoppedByOthers(), { kind: "exited", ...exit }, NOW + 100);
    expect(over).toMatchObject({ ...result, exitCode, exitSignal, finishedAt: NOW + 100 });
    // What takes its place finds a run that is completed, and ends well.
    expect(applyReport(over, RUN, notReplayed, NOW + 200)).toMatchObject({
      record: result,
      result: { ok: false, code: "settled" },
    });
  });

  it("has nothing for a supervisor once its user has asked for the stop", () => {
    const stopped = stoppedByOthers("stopped");
    for (const report of [{ kind: "accepted", generation: 1 }, notReplayed] as const)
      expect(applyReport(stopped, RUN, report, NOW + 100)).toMatchObject({
        record: { phase: "Stopping" },
        result: { ok: false, code: "settled" },
      });
  });
});
