import { describe, expect, it } from "vitest";
import { NOW, record } from "../../test/phase/decisions.js";
import { type Case, decide, over, seen, stopped } from "../../test/phase/rule-cases.js";
import { derivePhase } from "./derive-phase.js";
import { absent, unobserved, type Observation } from "./observation.js";
import type { SandboxRecord } from "./record.js";

describe("a stop of what is over already", () => {
  it.each<[string, Partial<SandboxRecord>, string]>([
    ["a failure with a code", { phase: "Error", exitCode: 1, reason: "MainProcessFailed" }, "Error"],
    ["a kill with a code", { phase: "Error", exitCode: 137, reason: "Killed" }, "Error"],
    ["an exit by a backend's word", { phase: "Error", exitCode: 137, reason: "OOMKilled" }, "Error"],
    ["a success", { phase: "Completed" }, "Completed"],
    ["a failure without a code", { phase: "Error", exitCode: null, reason: "MainProcessFailed" }, "Stopped"],
    ["a failure that nobody named", { phase: "Error", exitCode: 1 }, "Stopped"],
    ["a conflict that has a code", { phase: "Error", exitCode: 1, reason: "OwnershipConflict" }, "Stopped"],
    ["a run that nobody saw end", { phase: "Ready", exitCode: 1, reason: "Killed" }, "Stopped"],
  ])("keeps how a run ended, and nothing else: %s", (_, from, phase) => {
    const of = { from: { ...record("Ready"), ...from, ...stopped }, observation: seen(over) };
    expect(decide(of).phase).toBe(phase);
    // What executes again is to be stopped.
    const again = { ...of, observation: seen({ running: true }) };
    expect(decide(again).phase).toBe("Stopping");
  });
});

describe("a start that began again", () => {
  it.each<[string, Partial<SandboxRecord>, Partial<Observation>, string]>([
    ["that end", { exitCode: 1, finishedAt: 5 }, { exitCode: 1, finishedAt: 5 }, "Starting"],
    ["an end of which less is known", { exitCode: 1, finishedAt: 5 }, { exitCode: null }, "Starting"],
    ["an end whose time was not recorded", { exitCode: 1 }, { exitCode: 1, finishedAt: 5 }, "Starting"],
    ["another code", { exitCode: 1 }, { exitCode: 2 }, "Error"],
    ["another time", { exitCode: 1, finishedAt: 5 }, { exitCode: 1, finishedAt: 6 }, "Error"],
    ["an end after none", {}, { exitCode: 1 }, "Error"],
  ])("over the end of the run before waits, and over a new one is over: %s", (_, from, facts, phase) => {
    const of = { from: record("Starting", from), observation: seen({ ...over, ...facts }) };
    expect(decide(of).phase).toBe(phase);
  });

  it("and is not over is a start like any other", () => {
    const of = {
      from: record("Starting", { exitCode: 1 }),
      observation: seen({ running: false, ready: false }),
    };
    expect(decide(of)).toMatchObject({ phase: "Starting", rule: "still-starting" });
  });
});

describe("a workload that executes", () => {
  it.each<[string, Partial<Observation>, string]>([
    ["and says so", { ready: true, readiness: "signal" }, "Ready"],
    ["of a backend without readiness", { ready: null, readiness: "none" }, "Ready"],
    ["not ready, of a backend without readiness", { ready: false, readiness: "none" }, "Provisioning"],
    ["of which that is not known", { ready: null, readiness: "signal" }, "Provisioning"],
    ["and is not ready", { ready: false, readiness: "signal" }, "Provisioning"],
  ])("is ready %s", (_, facts, phase) => {
    const observation = seen({ running: true, ...facts });
    expect(decide({ from: record("Provisioning"), observation }).phase).toBe(phase);
  });

  it.each([
    ["pending", "ConfigurationPending"],
    ["rejected", "ConfigurationInvalid"],
    ["accepted", undefined],
  ] as const)("and is ready waits for its admission: %s", (admission, reason) => {
    const observation = seen({ running: true, ready: true, backendReason: "Started" });
    const decision = decide({ from: record("Provisioning", { admission }), observation });
    if (reason === undefined) expect(decision.phase).toBe("Ready");
    else expect(decision).toMatchObject({ phase: "Provisioning", reason });
  });

  it("and is ready is not said to wait for what its backend last said", () => {
    const ready = seen({ running: true, ready: true, backendReason: "ContainersNotReady" });
    const deadline = { deadlineAt: null, lastPhase: false };
    const held = decide({ from: record("Provisioning", { deadline }), observation: ready });
    expect(held).toMatchObject({ phase: "Provisioning", reason: "DependenciesNotReady" });
    expect(held.conditions[0]?.cause).toBeUndefined();
    const not = decide({ from: record("Provisioning"), observation: { ...ready, ready: false } });
    expect(not.conditions[0]).toMatchObject({
      reason: "DependenciesNotReady",
      cause: { reason: "ContainersNotReady" },
    });
  });
});

describe("a live session", () => {
  const silent = seen({});
  it.each<[string, SandboxRecord["phase"], Partial<Observation>, string]>([
    ["of what is provisioned", "Provisioning", {}, "Ready"],
    ["of what was lost", "Unknown", {}, "Ready"],
    ["of what is ready", "Ready", {}, "Ready"],
    ["not of what is being started", "Starting", {}, "Starting"],
    ["not of what is stopped", "Stopped", {}, "Stopped"],
    ["not where a failure is terminal", "Provisioning", { failureClass: "terminal" }, "Provisioning"],
    ["also where a failure may pass", "Provisioning", { failureClass: "transient" }, "Ready"],
    ["not where it is being stopped", "Provisioning", { terminating: true }, "Provisioning"],
    ["not where what is seen is of another run", "Provisioning", { stale: true }, "Provisioning"],
  ])("answers what a silent backend leaves open: %s", (_, phase, facts, expected) => {
    const observation = { ...silent, ...facts };
    const answered = decide({ from: record(phase), observation, live: true });
    expect(answered.phase).toBe(expected);
    expect(answered.rule === "session-over-silence").toBe(expected === "Ready");
    expect(decide({ from: record(phase), observation }).phase).toBe(phase);
  });

  it("is nothing where the look-up failed", () => {
    expect(decide({ from: record("Provisioning"), observation: unobserved(NOW), live: true })).toMatchObject({
      phase: "Provisioning",
      rule: "no-observation",
    });
  });
});

describe("a run that is over", () => {
  it.each<[string, Partial<Observation>, string, string]>([
    ["with 0", { exitCode: 0 }, "Completed", "finished-well"],
    ["by the guest", { exitCode: null, endedBy: "guest" }, "Completed", "finished-well"],
    ["by the guest, with a code", { exitCode: 1, endedBy: "guest" }, "Error", "finished-unexplained"],
    ["by the host", { exitCode: null, endedBy: "host" }, "Error", "finished-unexplained"],
    [
      "and something executes",
      { exitCode: 0, running: true, readiness: "signal" },
      "Provisioning",
      "not-there-yet",
    ],
    ["or not known to be", { exitCode: 0, completed: null }, "Provisioning", "not-there-yet"],
    [
      "or not known to be, of which readiness cannot be read",
      { completed: false, readiness: "unreadable" },
      "Provisioning",
      "not-there-yet",
    ],
    ["with 0 and a cause", { exitCode: 0, failureReason: "Evicted" }, "Error", "finished-failed"],
    [
      "with 0 and a cause that passes",
      { exitCode: 0, failureReason: "ErrImagePull", failureClass: "transient" },
      "Completed",
      "finished-well",
    ],
    [
      "with 1 and a cause that passes",
      { exitCode: 1, failureReason: "ErrImagePull", failureClass: "transient" },
      "Error",
      "finished-unexplained",
    ],
  ])("%s", (_, facts, phase, rule) => {
    const observation = seen({ ...over, ...facts });
    expect(decide({ from: record("Ready"), observation })).toMatchObject({ phase, rule });
  });
});

describe("a backend that looks empty", () => {
  const empty = seen({ running: false, ready: false, suspended: true, workload: "absent" });
  it.each<[string, Case, string]>([
    [
      "but was seen before the last write",
      { from: record("Ready", { updatedAt: NOW + 1 }), observation: empty },
      "empty-unproven",
    ],
    [
      "and is not suspended",
      { from: record("Ready", { updatedAt: NOW + 1 }), observation: { ...empty, suspended: false } },
      "not-there-yet",
    ],
    [
      "behind a live session",
      { from: record("Ready", { updatedAt: NOW + 1 }), observation: empty, live: true },
      "session-over-lag",
    ],
    [
      "behind a live session",
      { from: record("Stopped"), observation: { ...empty, bootstrapping: true }, live: true },
      "session-over-lag",
    ],
  ])("%s", (_, of, rule) => {
    expect(decide(of).rule).toBe(rule);
  });

  it.each<[string, Partial<SandboxRecord>, string]>([
    ["what was to be stopped", { phase: "Ready", desired: "stopped" }, "Stopped"],
    ["what is stopped", { phase: "Stopped" }, "Stopped"],
    ["what was to run", { phase: "Ready" }, "Error"],
  ])("of a driver that removes compute when it stops has nothing left of %s", (_, from, phase) => {
    const policy = { removesComputeOnStop: true };
    const input = { record: { ...record("Ready"), ...from }, observation: absent(NOW), now: NOW, policy };
    expect(derivePhase(input).phase).toBe(phase);
    expect(derivePhase({ ...input, policy: {} }).phase).toBe("Error");
  });
});
