import { describe, expect, it } from "vitest";
import { NOW, record } from "../../test/phase/decisions.js";
import { type Case, decide, over, seen, stopped } from "../../test/phase/rule-cases.js";
import { absent } from "./observation.js";
import type { SandboxRecord } from "./record.js";

describe("what a rule says", () => {
  const said: Record<
    string,
    Case & { readonly says: readonly [phase: string, reason: string, message: string] }
  > = {
    "no-observation": {
      from: record("Ready"),
      observation: null,
      says: ["Ready", "BackendUnreachable", ""],
    },
    "deleting-unconfirmed": {
      from: record("Deleting"),
      observation: seen({ deleting: null }),
      says: ["Deleting", "Deleting", ""],
    },
    "gone-kept": {
      from: record("Unknown", { message: "The node does not report." }),
      observation: absent(NOW),
      says: ["Unknown", "ComputeResourceMissing", "The node does not report."],
    },
    "deadline-over": {
      from: record("Starting", { deadline: { deadlineAt: NOW } }),
      observation: seen({ running: false, ready: false }),
      says: ["Error", "ProvisioningTimedOut", "The deadline of this attempt is over."],
    },
    "stop-kept": {
      from: record("Stopped", stopped),
      observation: seen({}),
      says: ["Stopped", "Stopped", ""],
    },
    "stop-of-result": {
      from: record("Completed", stopped),
      observation: seen(over),
      says: ["Completed", "MainProcessCompleted", ""],
    },
    "stop-conflict": {
      from: record("Stopping", stopped),
      observation: seen({ failureReason: "OwnershipConflict", running: false, message: "Two pods." }),
      says: ["Error", "OwnershipConflict", "Two pods."],
    },
    "node-lost": {
      from: record("Ready"),
      observation: seen({ failureReason: "NodeLost" }),
      says: ["Unknown", "NodeLost", "The node does not report; the state of the workload is unknowable."],
    },
    unreadable: { from: record("Ready"), observation: seen({}), says: ["Ready", "Unreadable", ""] },
    "restart-pending": {
      from: record("Starting", { exitCode: 1 }),
      observation: seen({ ...over, exitCode: 1 }),
      says: ["Starting", "Starting", ""],
    },
    "finished-failed": {
      from: record("Ready"),
      observation: seen({ ...over, failureReason: "Evicted", exitCode: 0 }),
      says: ["Error", "Evicted", "The backend reports a failure that waiting cannot mend."],
    },
    "finished-unexplained": {
      from: record("Ready"),
      observation: seen({ ...over, exitCode: 3 }),
      says: ["Error", "ProcessExited", "The run ended without success."],
    },
    "foreign-stop": {
      from: record("Ready"),
      observation: seen({ running: true, terminating: true }),
      says: ["Stopping", "Stopping", "The run is being stopped from outside."],
    },
    "terminal-failure": {
      from: record("Ready"),
      observation: seen({ running: true, failureClass: "terminal" }),
      says: ["Error", "BackendError", "The backend reports a failure that waiting cannot mend."],
    },
    "empty-backend": {
      from: record("Ready"),
      observation: seen({ running: false, suspended: true, workload: "absent" }),
      says: [
        "Stopped",
        "BackendEmpty",
        "The backend has nothing that runs; start reuses identity and workspace.",
      ],
    },
    "empty-unproven": {
      from: record("Ready", { updatedAt: NOW + 1 }),
      observation: seen({ running: false, suspended: true, workload: "absent" }),
      says: ["Ready", "Unreadable", ""],
    },
    "suspended-kept": {
      from: record("Stopped"),
      observation: seen({ running: false, suspended: true, bootstrapping: true }),
      says: ["Stopped", "Stopped", ""],
    },
    "readiness-unreadable": {
      from: record("Ready"),
      observation: seen({ running: true, readiness: "unreadable" }),
      says: ["Ready", "DependenciesReady", ""],
    },
    "still-starting": {
      from: record("Starting"),
      observation: seen({ running: false, ready: false }),
      says: ["Starting", "Starting", "The start is not finished yet."],
    },
    "not-there-yet": {
      from: record("Ready"),
      observation: seen({ running: false, ready: false }),
      says: ["Provisioning", "DependenciesNotReady", "The sandbox is not ready yet."],
    },
  };
  it.each(Object.keys(said))("without a word of the backend's or the record's own: %s", (rule) => {
    const { says, ...of } = said[rule]!;
    const { phase, reason, message, rule: decided } = decide(of);
    expect([decided, phase, reason, message]).toEqual([rule, ...says]);
  });

  it("is said of a paused unit that is still there too", () => {
    const paused = seen({ running: false, suspended: true, workload: "present" });
    expect(decide({ from: record("Ready"), observation: paused })).toMatchObject({
      phase: "Stopped",
      reason: "Suspended",
      message: "The backend keeps the run suspended; start resumes it.",
    });
  });

  it("is a condition that is true of Ready, unknown of Unknown and false of everything else", () => {
    const status = (of: Case): unknown => decide(of).conditions.map((each) => [each.type, each.status]);
    const ready = seen({ running: true, ready: true, readiness: "signal" });
    expect(status({ from: record("Starting"), observation: ready })).toEqual([["Ready", "True"]]);
    expect(status(said["node-lost"]!)).toEqual([["Ready", "Unknown"]]);
    for (const rule of ["deadline-over", "foreign-stop", "empty-backend", "not-there-yet"])
      expect(status(said[rule]!)).toEqual([["Ready", "False"]]);
    // What is held leaves the record's own conditions.
    for (const rule of ["no-observation", "stop-kept", "unreadable"]) expect(status(said[rule]!)).toEqual([]);
  });

  it.each([
    ["Completed", "MainProcessCompleted"],
    ["Error", "BackendError"],
  ] as const)("of a result without a reason is a word for it: %s", (phase, reason) => {
    expect(decide({ from: record(phase), observation: seen({ running: true }) })).toMatchObject({
      phase,
      reason,
      rule: "result-kept",
    });
  });

  it.each<[string, SandboxRecord["deadline"], string]>([
    ["the deadline's own", { deadlineAt: NOW, lastPhase: false, timeoutReason: "Late" }, "Late"],
    ["of an earlier phase", { deadlineAt: NOW, lastPhase: false }, "ImagePreparationTimedOut"],
    ["of the last phase", { deadlineAt: NOW, lastPhase: true }, "ProvisioningTimedOut"],
  ])("of a deadline that is over is its reason: %s", (_, deadline, reason) => {
    const from = record("Provisioning", { deadline });
    expect(decide({ from, observation: seen({ running: true }) })).toMatchObject({ phase: "Error", reason });
  });
});
