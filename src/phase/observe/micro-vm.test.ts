import { describe, expect, it } from "vitest";
import { alive, phases } from "../../../test/phase/virtual-machines.js";
import type { Observation } from "../observation.js";
import { observeCloudHypervisor, observeFirecracker } from "./micro-vm.js";

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
