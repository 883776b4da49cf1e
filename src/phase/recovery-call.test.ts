import { describe, expect, it } from "vitest";
import { mine, now, others, record } from "../../test/phase/sweeps.js";
import type { SandboxRecord } from "./record.js";
import { applyRecovery } from "./recovery.js";

describe("a recovery call", () => {
  it.each(["ok", "not-found"] as const)("finishes a stop: %s", (result) => {
    const { record: next, changed } = applyRecovery(
      record("Stopping", { desired: "stopped" }),
      "stop",
      result,
      mine,
    );
    const message = "Stopped; the gateway finished it when it came up.";
    expect(changed).toBe(true);
    expect(next).toMatchObject({
      phase: "Stopped",
      desired: "stopped",
      reason: "Stopped",
      message,
      since: now,
    });
  });

  it("keeps a stop that failed", () => {
    const stopping = record("Stopping", { desired: "stopped" });
    expect(applyRecovery(stopping, "stop", "error", mine)).toEqual({
      record: stopping,
      changed: false,
      refused: null,
    });
  });

  it("fences the run before off, with the last end that is known", () => {
    const started = (more: Partial<SandboxRecord>): SandboxRecord => {
      const result = applyRecovery(record("Ready", more), "start", "ok", mine);
      expect(result).toMatchObject({ changed: true, refused: null });
      return result.record;
    };
    const fence = {
      phase: "Ready",
      startRequestedAt: now,
      updatedAt: now,
      exitCode: null,
      finishedAt: null,
      since: 0,
    };
    expect(started({})).toMatchObject({ ...fence, previousFinishedAt: null });
    expect(started({ finishedAt: 4, exitCode: 1 })).toMatchObject({ ...fence, previousFinishedAt: 4 });
    expect(started({ finishedAt: 4, previousFinishedAt: 2 })).toMatchObject({
      ...fence,
      previousFinishedAt: 4,
    });
    expect(started({ previousFinishedAt: 2 })).toMatchObject({ ...fence, previousFinishedAt: 2 });
  });

  it("is the same start again for one that was under way: what that one has brought about is its own", () => {
    const starting = record("Starting", {
      startRequestedAt: 3,
      previousFinishedAt: 2,
      expectedInstanceId: "i-2",
    });
    const again = {
      phase: "Starting",
      startRequestedAt: 3,
      previousFinishedAt: 2,
      expectedInstanceId: "i-2",
    };
    for (const options of [mine, others])
      expect(applyRecovery(starting, "start", "ok", options).record).toMatchObject({
        ...again,
        updatedAt: now,
      });
    expect(applyRecovery(record("Starting"), "start", "ok", mine).record.startRequestedAt).toBe(now);
    // Unless the gateway had stopped it: then it is a new one.
    const stopped = { ...starting, shutdownStopAt: 5 };
    expect(applyRecovery(stopped, "start", "ok", mine).record.startRequestedAt).toBe(now);
  });

  it("that fails takes the mark of a shutdown from an error, and leaves one without it alone", () => {
    const failed = record("Error", { reason: "Killed", finishedAt: 4, shutdownStopAt: 3 });
    for (const result of ["error", "not-found"] as const) {
      const left = applyRecovery(failed, "start", result, mine);
      expect(left).toEqual({
        record: { ...failed, shutdownStopAt: null, updatedAt: now },
        changed: true,
        refused: null,
      });
      expect(applyRecovery(left.record, "start", result, mine)).toEqual({
        record: left.record,
        changed: false,
        refused: null,
      });
    }
  });

  it("of a run that is no start under way is a new start, whatever was asked for before", () => {
    const ready = record("Ready", { startRequestedAt: 3 });
    expect(applyRecovery(ready, "start", "ok", mine).record.startRequestedAt).toBe(now);
  });

  it("makes a start of an error that its runtime caused", () => {
    const failed = record("Error", { reason: "ContainerStopped", finishedAt: 4 });
    expect(applyRecovery(failed, "start", "ok", mine).record).toMatchObject({
      phase: "Provisioning",
      reason: "Resumed",
      message: "Started again after its runtime went down.",
      since: now,
      previousFinishedAt: 4,
    });
  });

  const missing = [
    "BackendResourceMissing",
    "The compute object was gone when the gateway came up.",
  ] as const;
  const refused = ["StartFailed", "The sandbox could not be started when the gateway came up."] as const;
  it.each([
    ["Ready", "not-found", mine, missing],
    ["Ready", "error", mine, refused],
    ["Provisioning", "not-found", mine, missing],
    ["Unknown", "error", mine, refused],
    ["Starting", "not-found", mine, missing],
    ["Starting", "not-found", others, null],
    ["Starting", "error", mine, null],
    ["Starting", "error", others, null],
    ["Error", "not-found", mine, null],
    ["Error", "error", mine, null],
  ] as const)("of %s that ends with %s (%j) is %j", (phase, result, options, outcome) => {
    const from = record(phase);
    const { record: next, changed, refused: why } = applyRecovery(from, "start", result, options);
    expect(why).toBeNull();
    expect(changed).toBe(outcome !== null);
    if (outcome === null) expect(next).toBe(from);
    else
      expect(next).toMatchObject({
        phase: "Error",
        reason: outcome[0],
        message: outcome[1],
        desired: "running",
      });
  });
});
