import { describe, expect, it } from "vitest";
import { phases } from "../../../test/phase/virtual-machines.js";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import type { SandboxRecord } from "../record.js";
import { observeLibvirt } from "./libvirt.js";

describe("libvirt", () => {
  it.each([
    [1, 1, "RUNNING_BOOTED", "Ready", "Ready", "Stopping"],
    [2, 0, "BLOCKED_UNKNOWN", "Ready", "Ready", "Stopping"],
    [3, 1, "PAUSED_USER", "Stopped", "Starting", "Stopped"],
    [3, 7, "PAUSED_FROM_SNAPSHOT", "Stopped", "Starting", "Stopped"],
    [3, 9, "PAUSED_SNAPSHOT", "Stopped", "Starting", "Stopped"],
    [3, 11, "PAUSED_STARTING_UP", "Provisioning", "Starting", "Stopping"],
    [3, 5, "PAUSED_IOERROR", "Provisioning", "Starting", "Stopping"],
    [3, 6, "PAUSED_WATCHDOG", "Error", "Error", "Stopping"],
    [3, 10, "PAUSED_CRASHED", "Error", "Error", "Stopping"],
    [3, 2, "PAUSED_MIGRATION", "Ready", "Starting", "Stopping"],
    [3, 3, "PAUSED_SAVE", "Ready", "Starting", "Stopping"],
    [3, 12, "PAUSED_POSTCOPY", "Ready", "Starting", "Stopping"],
    [3, 8, "PAUSED_SHUTTING_DOWN", "Stopping", "Stopping", "Stopping"],
    [3, 0, "PAUSED_UNKNOWN", "Ready", "Starting", "Stopping"],
    [3, 99, "PAUSED_99", "Ready", "Starting", "Stopping"],
    [4, 1, "SHUTDOWN_USER", "Stopping", "Stopping", "Stopping"],
    [5, 1, "SHUTOFF_SHUTDOWN", "Completed", "Completed", "Stopped"],
    [5, 2, "SHUTOFF_DESTROYED", "Error", "Error", "Stopped"],
    [5, 3, "SHUTOFF_CRASHED", "Error", "Error", "Stopped"],
    [5, 5, "SHUTOFF_SAVED", "Stopped", "Starting", "Stopped"],
    [5, 7, "SHUTOFF_FROM_SNAPSHOT", "Stopped", "Starting", "Stopped"],
    [5, 6, "SHUTOFF_FAILED", "Error", "Error", "Stopped"],
    [5, 4, "SHUTOFF_MIGRATED", "Ready", "Starting", "Stopping"],
    [5, 0, "SHUTOFF_UNKNOWN", "Stopped", "Starting", "Stopped"],
    [5, 42, "SHUTOFF_42", "Provisioning", "Starting", "Stopped"],
    [6, 1, "CRASHED_PANICKED", "Error", "Error", "Stopped"],
    [7, 0, "PMSUSPENDED_UNKNOWN", "Stopped", "Starting", "Stopped"],
    [0, 0, "NOSTATE_UNKNOWN", "Ready", "Starting", "Stopping"],
    [99, 0, "99", "Ready", "Starting", "Stopping"],
  ])("state %i reason %i is %s: %s, %s, %s", (state, reason, name, ...expected) => {
    const domain = { state, reason, persistent: true };
    expect(observeLibvirt({ domain }).backendReason).toBe(name);
    expect(phases((options) => observeLibvirt({ domain }, options))).toEqual(expected);
  });

  it.each<[number, number, Partial<Observation>]>([
    [1, 1, { running: true, readiness: "none", terminating: false }],
    [3, 1, { running: false, suspended: true }],
    [3, 3, { running: false, ready: false, stale: true }],
    [3, 4, { running: false, ready: false, stale: true }],
    [3, 5, { running: false, failureReason: "GuestIOError", failureClass: "transient" }],
    [3, 6, { running: false, failureReason: "WatchdogFired", failureClass: "terminal" }],
    [3, 8, { running: false, terminating: true }],
    [3, 10, { running: false, failureReason: "GuestPanicked" }],
    [3, 11, { running: false, suspended: false, failureReason: null, stale: false }],
    [4, 0, { running: true, ready: false, terminating: true }],
    [5, 0, { running: false, workload: "absent", suspended: true, completed: false }],
    [5, 1, { workload: "absent", completed: true, endedBy: "guest", failureReason: null }],
    [5, 2, { workload: "absent", completed: true, endedBy: "host", failureReason: "Killed" }],
    [5, 8, { workload: "absent", completed: true, endedBy: "host", failureReason: "Killed" }],
    [5, 3, { workload: "absent", completed: true, failureReason: "GuestPanicked" }],
    [5, 4, { workload: "present", running: null }],
    [5, 6, { workload: "absent", completed: false, failureReason: "VmmStartFailed" }],
    [5, 42, { workload: "absent", running: false, completed: null, suspended: null }],
    [6, 1, { running: false, completed: true, failureReason: "GuestPanicked" }],
    [7, 0, { running: false, suspended: true }],
  ])("state %i reason %i, fact by fact", (state, reason, facts) => {
    expect(observeLibvirt({ domain: { state, reason } })).toMatchObject(facts);
  });

  it("blames nobody for an end that was asked for", () => {
    for (const reason of [2, 8]) {
      const observation = observeLibvirt({ domain: { state: 5, reason } }, { run: { desired: "stopped" } });
      expect(observation).toMatchObject({ completed: true, endedBy: "host", failureReason: null });
    }
  });

  it("names its run where the driver tells it", () => {
    const domain = { state: 1, reason: 1, instanceId: "i-1" };
    expect(observeLibvirt({ domain }, { run: { instanceId: "i-1" } })).toMatchObject({
      instanceId: "i-1",
      stale: false,
    });
    expect(observeLibvirt({ domain }, { run: { instanceId: "i-2" } }).stale).toBe(true);
  });

  it("reads a saved guest as suspended, whatever ended it, and waits while the driver prepares", () => {
    expect(observeLibvirt({ domain: { state: 5, reason: 1, managedSave: true } })).toMatchObject({
      suspended: true,
      completed: false,
    });
    const preparing = observeLibvirt({ domain: { state: 5, reason: 0, bootstrapping: true } });
    const record: SandboxRecord = { phase: "Provisioning", desired: "running", since: 0 };
    expect(derivePhase({ record, observation: preparing, now: 0 }).phase).toBe("Provisioning");
    expect(observeLibvirt({ domain: null, error: { code: "VIR_ERR_NO_DOMAIN" } }).exists).toBe(false);
    expect(observeLibvirt({ domain: {} })).toMatchObject({ running: null, backendReason: null });
  });
});
