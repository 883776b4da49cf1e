import { describe, expect, it } from "vitest";
import { record, seen } from "../../test/phase/intended-records.js";
import { absent, type Observation } from "./observation.js";
import type { SandboxRecord } from "./record.js";
import { resolveFailedOperation } from "./resolve-failed-operation.js";

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
