import { describe, expect, it } from "vitest";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import type { DesiredState, SandboxRecord } from "../record.js";
import { observeLibvirt } from "./libvirt.js";
import { observeCloudHypervisor, observeFirecracker } from "./micro-vm.js";
import { observeProcess } from "./process.js";
import { observeQemu } from "./qemu.js";

const ready: SandboxRecord = { phase: "Ready", desired: "running", since: 0 };
const starting: SandboxRecord = { phase: "Starting", desired: "running", since: 0 };
const stopping: SandboxRecord = { phase: "Stopping", desired: "stopped", since: 0 };

/** The phases that a Ready, a Starting and a Stopping record come to. */
function phases(observe: (options: { run: { desired: DesiredState } }) => Observation): string[] {
  return [ready, starting, stopping].map((record) => {
    const observation = observe({ run: { desired: record.desired } });
    return derivePhase({ record, observation, now: 0 }).phase;
  });
}

const alive = { pid: 1, alive: true };

describe("QEMU", () => {
  it.each([
    ["running", "Ready", "Ready", "Stopping"],
    ["prelaunch", "Provisioning", "Starting", "Stopping"],
    ["preconfig", "Provisioning", "Starting", "Stopping"],
    ["inmigrate", "Provisioning", "Starting", "Stopping"],
    ["restore-vm", "Provisioning", "Starting", "Stopping"],
    ["paused", "Stopped", "Starting", "Stopped"],
    ["suspended", "Stopped", "Starting", "Stopped"],
    ["io-error", "Provisioning", "Starting", "Stopping"],
    ["watchdog", "Error", "Error", "Stopping"],
    ["guest-panicked", "Error", "Error", "Stopping"],
    ["internal-error", "Error", "Error", "Stopping"],
    ["shutdown", "Completed", "Completed", "Stopped"],
    ["save-vm", "Ready", "Starting", "Stopping"],
    ["finish-migrate", "Ready", "Starting", "Stopping"],
    ["colo", "Ready", "Starting", "Stopping"],
    ["postmigrate", "Ready", "Starting", "Stopping"],
    ["debug", "Ready", "Starting", "Stopping"],
    ["dreaming", "Ready", "Starting", "Stopping"],
    ["RUNNING", "Ready", "Ready", "Stopping"],
  ])("%s: %s, %s, %s", (status, ...expected) => {
    const qmp = { return: { status, running: status === "running" } };
    expect(phases((options) => observeQemu({ qmp, process: alive }, options))).toEqual(expected);
  });

  it.each([
    ["guest-shutdown", "Completed", null],
    ["guest-reset", "Completed", null],
    ["guest-panic", "Error", "GuestPanicked"],
    ["host-signal", "Error", "Killed"],
    ["host-qmp-quit", "Error", "Killed"],
    ["host-error", "Error", "VmmInternalError"],
    ["snapshot-load", "Completed", null],
  ])("a shutdown caused by %s is %s", (reason, phase, failureReason) => {
    const input = {
      qmp: { return: { status: "shutdown" } },
      events: [{ event: "SHUTDOWN", data: { reason } }],
    };
    const observation = observeQemu(input);
    expect(observation.failureReason).toBe(failureReason);
    expect(derivePhase({ record: ready, observation, now: 0 }).phase).toBe(phase);
    expect(
      derivePhase({
        record: stopping,
        observation: observeQemu(input, { run: { desired: "stopped" } }),
        now: 0,
      }).phase,
    ).toBe("Stopped");
  });

  it("takes the latest shutdown, in whatever order the events come", () => {
    const early = {
      event: "SHUTDOWN",
      data: { reason: "guest-reset" },
      timestamp: { seconds: 1, microseconds: 9 },
    };
    const late = {
      event: "SHUTDOWN",
      data: { reason: "host-signal" },
      timestamp: { seconds: 2, microseconds: 0 },
    };
    for (const events of [
      [early, late],
      [late, early],
    ])
      expect(observeQemu({ qmp: { return: { status: "shutdown" } }, events }).endedBy).toBe("host");
  });

  it("believes the end of the process over what the monitor said before", () => {
    const qmp = { return: { status: "running", running: true } };
    const dead = (process: object): Observation =>
      observeQemu({ qmp, process: { alive: false, ...process } });
    expect(dead({ exitCode: 0 })).toMatchObject({
      running: false,
      completed: true,
      endedBy: "guest",
      exitCode: null,
    });
    expect(dead({ exitCode: 1 }).failureReason).toBe("VmmExited");
    expect(dead({ signal: "SIGKILL" })).toMatchObject({ failureReason: "Killed", backendReason: "SIGKILL" });
    const panicked = observeQemu({
      qmp,
      process: { alive: false, exitCode: 0 },
      events: [{ event: "GUEST_PANICKED" }],
    });
    expect(panicked.failureReason).toBe("GuestPanicked");
    const guest = observeQemu({
      qmp: null,
      process: { alive: false, signal: 15 },
      events: [{ event: "SHUTDOWN", data: { guest: true } }],
    });
    expect(guest).toMatchObject({ endedBy: "guest", failureReason: null });
  });

  it("says nothing where neither monitor nor process is known", () => {
    expect(observeQemu({ qmp: { error: { transport: "timeout" } } }).exists).toBeNull();
    expect(observeQemu({ qmp: null, error: { code: 404 } }).exists).toBe(false);
  });
});

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

describe("micro-VMs", () => {
  it.each([
    ["Not started", "Provisioning", "Starting", "Stopping"],
    ["Uninitialized", "Provisioning", "Starting", "Stopping"],
    ["Starting", "Provisioning", "Starting", "Stopping"],
    ["Running", "Ready", "Ready", "Stopping"],
    ["Paused", "Stopped", "Starting", "Stopped"],
    ["Halting", "Stopping", "Stopping", "Stopping"],
    ["Halted", "Completed", "Completed", "Stopped"],
    ["Dreaming", "Ready", "Starting", "Stopping"],
    [true, "Ready", "Ready", "Stopping"],
    [false, "Provisioning", "Starting", "Stopping"],
  ])("Firecracker %s: %s, %s, %s", (state, ...expected) => {
    expect(
      phases((options) => observeFirecracker({ instanceInfo: { state }, process: alive }, options)),
    ).toEqual(expected);
  });

  it.each([
    ["Created", "Provisioning", "Starting", "Stopping"],
    ["Running", "Ready", "Ready", "Stopping"],
    ["Paused", "Stopped", "Starting", "Stopped"],
    ["Shutdown", "Completed", "Completed", "Stopped"],
    ["BreakPoint", "Ready", "Starting", "Stopping"],
  ])("cloud-hypervisor %s: %s, %s, %s", (state, ...expected) => {
    expect(
      phases((options) => observeCloudHypervisor({ vmInfo: { state }, process: alive }, options)),
    ).toEqual(expected);
  });

  it("are told by their process when the API is silent", () => {
    expect(observeFirecracker({ instanceInfo: null, process: alive })).toMatchObject({
      exists: true,
      running: null,
    });
    expect(
      observeFirecracker({ instanceInfo: null, process: { alive: false, exitCode: 1 } }).failureReason,
    ).toBe("VmmExited");
    expect(observeCloudHypervisor({ vmInfo: null, error: { transport: "refused" } }).exists).toBeNull();
    expect(observeFirecracker({ instanceInfo: { started: true } }).running).toBe(true);
  });
});

describe("a plain process", () => {
  it.each<[string, object, string, string, string]>([
    ["alive", { process: alive }, "Ready", "Ready", "Stopping"],
    ["exit 0", { process: { alive: false, exitCode: 0 } }, "Completed", "Completed", "Stopped"],
    ["exit 2", { process: { alive: false, exitCode: 2 } }, "Error", "Error", "Stopped"],
    ["a signal", { process: { alive: false, signal: "sigterm" } }, "Error", "Error", "Stopped"],
    ["an unnamed signal", { process: { alive: false, signal: 64 } }, "Error", "Error", "Stopped"],
    ["not known to be alive", { process: { pid: 3 } }, "Ready", "Starting", "Stopping"],
    ["an end, without the flag", { process: { exitCode: 1 } }, "Error", "Error", "Stopped"],
    ["none, at rest", { process: null, stateDir: { exists: true } }, "Stopped", "Starting", "Stopped"],
    [
      "none, being prepared",
      { process: null, stateDir: { exists: true, bootstrapping: true } },
      "Provisioning",
      "Starting",
      "Stopped",
    ],
    [
      "none, end marked",
      { process: null, stateDir: { exists: true, mainProcessExitedMarker: true } },
      "Error",
      "Error",
      "Stopped",
    ],
    ["none, folder gone", { process: null, stateDir: { exists: false } }, "Error", "Error", "Error"],
    ["none, folder unknown", { process: null }, "Ready", "Starting", "Stopping"],
  ])("%s: %s", (_name, input, ...expected) => {
    expect(phases((options) => observeProcess(input as never, options))).toEqual(expected);
  });

  it("names its run where the driver tells it", () => {
    const process = { alive: true, instanceId: "i-1" };
    expect(observeProcess({ process }, { run: { instanceId: "i-2" } }).stale).toBe(true);
    expect(observeProcess({ process }, { run: { instanceId: "i-1" } }).running).toBe(true);
  });
});
