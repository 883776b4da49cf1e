import { describe, expect, it } from "vitest";
import { alive, phases } from "../../../test/phase/virtual-machines.js";
import type { Observation } from "../observation.js";
import { observeProcess } from "./process.js";

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
