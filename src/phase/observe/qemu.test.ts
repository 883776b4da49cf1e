import { describe, expect, it } from "vitest";
import { alive, phases, ready, stopping } from "../../../test/phase/virtual-machines.js";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import type { DesiredState } from "../record.js";
import { observeQemu } from "./qemu.js";

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
