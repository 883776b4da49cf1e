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

  it.each<[string, Partial<Observation>]>([
    ["running", { running: true, ready: null, readiness: "none" }],
    ["prelaunch", { running: false, ready: false, readiness: "none", suspended: false }],
    ["paused", { running: false, suspended: true, readiness: "none" }],
    ["io-error", { running: false, failureReason: "GuestIOError", failureClass: "transient" }],
    ["watchdog", { running: false, failureReason: "WatchdogFired", failureClass: "terminal" }],
    ["guest-panicked", { running: false, failureReason: "GuestPanicked", failureClass: "terminal" }],
    ["internal-error", { running: false, failureReason: "VmmInternalError", failureClass: "terminal" }],
    ["shutdown", { running: false, completed: true, endedBy: "guest", failureReason: null }],
    ["dreaming", { running: null, ready: null, stale: false }],
  ])("%s, fact by fact", (status, facts) => {
    expect(observeQemu({ qmp: { return: { status } } })).toMatchObject({ backendReason: status, ...facts });
  });

  it.each([
    [true, true, null],
    [false, false, false],
    ["yes", null, null],
  ])(
    "while a state is saved or moved shows whether it executes, and that no more is known: %s",
    (...said) => {
      const [running, executes, ready] = said;
      for (const status of ["save-vm", "finish-migrate"])
        expect(observeQemu({ qmp: { return: { status, running } } })).toMatchObject({
          running: executes,
          ready,
          stale: true,
        });
    },
  );

  it("blames a shutdown on whoever the latest event names, and nobody for a stop that was asked for", () => {
    const shut = (data: object, desired: DesiredState = "running"): Observation =>
      observeQemu(
        { qmp: { return: { status: "shutdown" } }, events: [{ event: "shutdown", data }] },
        { run: { desired } },
      );
    expect(shut({ reason: "host-signal" })).toMatchObject({ endedBy: "host", failureReason: "Killed" });
    expect(shut({ guest: false })).toMatchObject({ endedBy: "host", failureReason: "Killed" });
    expect(shut({ guest: true })).toMatchObject({ endedBy: "guest", failureReason: null });
    for (const data of [{ reason: "host-signal" }, { reason: "host-error" }, { guest: false }])
      expect(shut(data, "stopped")).toMatchObject({ endedBy: "host", failureReason: null });
    // A cause of tomorrow leaves the word of the monitor, unless the older flag puts it down to the host.
    expect(shut({ reason: "subsystem-reset", guest: true })).toMatchObject({ endedBy: "guest" });
    expect(shut({ reason: "subsystem-reset", guest: false })).toMatchObject({ endedBy: "host" });
  });

  it("clears a process that was killed only by a shutdown that is known to be the guest's own", () => {
    const killed = (...data: object[]): Observation =>
      observeQemu({
        qmp: null,
        process: { alive: false, signal: "SIGKILL" },
        events: data.map((each) => ({ event: "SHUTDOWN", data: each })),
      });
    const own = { endedBy: "guest", failureReason: null, readiness: "none" };
    for (const data of [{ reason: "guest-shutdown" }, { guest: true }])
      expect(killed(data)).toMatchObject(own);
    for (const data of [[], [{ reason: "subsystem-reset", guest: true }], [{ reason: "not-guest-" }]])
      expect(killed(...data)).toMatchObject({ endedBy: "unknown", failureReason: "Killed" });
  });

  it("keeps a panic as the cause, whoever then ended the guest", () => {
    for (const panic of ["GUEST_PANICKED", "GUEST_CRASHLOADED"])
      for (const reason of ["guest-shutdown", "host-qmp-quit"]) {
        const events = [{ event: panic }, { event: "SHUTDOWN", data: { reason } }];
        const observation = observeQemu({ qmp: { return: { status: "shutdown" } }, events });
        expect(observation.failureReason).toBe("GuestPanicked");
      }
  });

  it("takes one of two shutdowns of one instant by its cause, wherever it stands", () => {
    const timestamp = { seconds: 1, microseconds: 5 };
    const guest = { event: "SHUTDOWN", data: { reason: "guest-shutdown" }, timestamp };
    const host = { event: "SHUTDOWN", data: { reason: "host-signal" }, timestamp };
    const later = { ...host, timestamp: { seconds: 1, microseconds: 6 } };
    const endedBy = (...events: object[]): string =>
      observeQemu({ qmp: { return: { status: "shutdown" } }, events }).endedBy;
    expect([endedBy(guest, host), endedBy(host, guest)]).toEqual(["guest", "guest"]);
    expect([endedBy(guest, later), endedBy(later, guest)]).toEqual(["host", "host"]);
  });

  it("names its run where the driver's process tells it", () => {
    const qmp = { return: { status: "running" } };
    for (const process of [
      { alive: true, instanceId: "i-1" },
      { alive: false, exitCode: 0, instanceId: "i-1" },
    ]) {
      expect(observeQemu({ qmp, process })).toMatchObject({ instanceId: "i-1", stale: false });
      const other = observeQemu({ qmp, process }, { run: { instanceId: "i-2" } });
      expect(other).toMatchObject({ completed: false, stale: true });
    }
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

  it("keep the word as it was spelled, a boolean as its name", () => {
    const firecracker = (instanceInfo: object): Observation => observeFirecracker({ instanceInfo });
    expect(firecracker({ state: "Not started" })).toMatchObject({
      backendReason: "Not started",
      running: false,
    });
    expect(firecracker({ state: "NOT_STARTED" }).running).toBe(false);
    expect(firecracker({ state: "not-started" }).running).toBe(false);
    expect(firecracker({ started: true })).toMatchObject({ backendReason: "true", running: true });
    expect(firecracker({ started: false })).toMatchObject({ backendReason: "false", running: false });
    expect(firecracker({ state: 5 })).toMatchObject({ backendReason: null, running: null });
    expect(firecracker({})).toMatchObject({ exists: true, backendReason: null, running: null });
    expect(observeCloudHypervisor({ vmInfo: { state: "Shutdown" } })).toMatchObject({
      backendReason: "Shutdown",
      running: false,
      completed: true,
      endedBy: "guest",
    });
    expect(observeCloudHypervisor({ vmInfo: { state: true } })).toMatchObject({ running: null });
  });

  it("are gone by a definite answer only, and never while the process lives", () => {
    for (const observe of [
      (more: object) => observeFirecracker({ instanceInfo: null, ...more }),
      (more: object) => observeCloudHypervisor({ vmInfo: null, ...more }),
    ]) {
      expect(observe({ error: { status: 404 } }).exists).toBe(false);
      expect(observe({ error: { status: 500 } }).exists).toBeNull();
      expect(observe({ process: { pid: 3 }, error: { status: 404 } }).exists).toBe(false);
      expect(observe({ process: alive, error: { status: 404 } })).toMatchObject({
        exists: true,
        running: null,
      });
    }
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

  it.each<[string, object, Partial<Observation>]>([
    [
      "alive",
      { process: alive },
      { exists: true, workload: "present", running: true, readiness: "none", backendReason: "running" },
    ],
    ["none, as a look-up says", { process: null, error: { code: 404 } }, { exists: false }],
    ["none, as nobody can say", { process: null, error: { code: 500 } }, { exists: null }],
    [
      "a success",
      { process: { exitCode: 0 } },
      { workload: "absent", running: false, completed: true, endedBy: "guest", failureReason: null },
    ],
    ["none, folder gone", { process: null, stateDir: { exists: false } }, { exists: false }],
    ["none, folder unreadable", { process: null, stateDir: { exists: "yes" } }, { exists: null }],
    [
      "none, at rest",
      { process: null, stateDir: { exists: true } },
      { workload: "absent", running: false, suspended: true, bootstrapping: false, completed: false },
    ],
    [
      "none, being prepared",
      { process: null, stateDir: { exists: true, bootstrapping: true } },
      { suspended: true, bootstrapping: true },
    ],
    [
      "none, end marked",
      { process: null, stateDir: { exists: true, mainProcessExitedMarker: true } },
      { completed: true, suspended: false, backendReason: "ProcessExited" },
    ],
  ])("%s, fact by fact", (_name, input, facts) => {
    expect(observeProcess(input as never)).toMatchObject(facts);
  });

  it.each([
    [9, "SIGKILL"],
    [15, "SIGTERM"],
    [64, "SIG64"],
    ["sigint", "SIGINT"],
  ])("names the signal that ended it: %s", (signal, name) => {
    const said = { backendReason: name, completed: true, exitCode: null };
    expect(observeProcess({ process: { alive: false, signal } })).toMatchObject({
      ...said,
      failureReason: "Killed",
    });
    // Without the flag, too; and the signal of a stop that was asked for is no failure.
    const asked = observeProcess({ process: { signal } }, { run: { desired: "stopped" } });
    expect(asked).toMatchObject({ ...said, failureReason: null });
  });

  it.each([0, -9, 1.5, Number.NaN, "", null])("takes %s for no signal", (signal) => {
    expect(observeProcess({ process: { pid: 3, signal } })).toMatchObject({ running: null });
    const ended = observeProcess({ process: { alive: false, exitCode: 0, signal } });
    expect(ended).toMatchObject({ failureReason: null, backendReason: "ProcessExited" });
  });

  it("names its run where the driver tells it", () => {
    const process = { alive: true, instanceId: "i-1" };
    expect(observeProcess({ process }, { run: { instanceId: "i-2" } }).stale).toBe(true);
    expect(observeProcess({ process }, { run: { instanceId: "i-1" } }).running).toBe(true);
  });
});
