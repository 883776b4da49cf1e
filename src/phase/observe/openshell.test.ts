import { describe, expect, it } from "vitest";
import { phaseOf, ready, see } from "../../../test/phase/openshell-status.js";
import { derivePhase } from "../derive-phase.js";
import type { SandboxRecord } from "../record.js";
import { observeOpenShellStatus } from "./openshell.js";

describe("OpenShell's driver status", () => {
  it.each([
    "ReconcilerError",
    "DependenciesNotReady",
    "SupervisorNotConnected",
    "Starting",
    "ContainerStarting",
    "ContainerCreated",
    "HealthCheckStarting",
    "InspectFailed",
  ])("%s is waiting, in any case", (reason) => {
    for (const word of [reason, reason.toLowerCase(), reason.toUpperCase()]) {
      expect(see([ready("False", word)]).failureClass).not.toBe("terminal");
      expect(phaseOf([ready("False", word)])).toBe("Provisioning");
    }
  });

  it.each([
    "",
    "ContainerExited",
    "HealthCheckFailed",
    "Unschedulable",
    "TomorrowsReason",
    "ContainerRestarting",
  ])("%j fails closed", (reason) => {
    expect(phaseOf([ready("False", reason)])).toBe("Error");
  });

  describe("while a stop is under way", () => {
    const stopping: SandboxRecord = { phase: "Stopping", desired: "stopped", since: 0 };
    const stopped = (conditions: unknown): string =>
      derivePhase({ record: stopping, observation: see(conditions), now: 0 }).phase;

    it.each(["ContainerExited", "containerstopped"])(
      "%s confirms it, in whichever condition it stands",
      (reason) => {
        const container = { type: "Container", status: "False", reason };
        expect(stopped([container])).toBe("Stopped");
        expect(stopped([container, ready("False", "Starting")])).toBe("Stopped");
        expect(stopped([{ ...container, status: "True" }, ready("False", "Starting")])).toBe("Stopping");
        expect(stopped([container, ready("True", "BackendReady")])).toBe("Stopping");
        expect(phaseOf([container, ready("False", "Starting")])).toBe("Provisioning");
        for (const said of [
          [ready("True", "BackendReady"), ready("False", "ContainerExited")],
          [ready("Unknown", "InspectFailed")],
          [ready("False", "SupervisorNotConnected")],
        ])
          expect(stopped([container, ...said])).toBe("Stopping");
      },
    );

    it("a restart of the runtime does not: it may come back with it", () => {
      expect(stopped([ready("False", "ContainerRuntimeRestart")])).toBe("Stopping");
      expect(phaseOf([ready("False", "ContainerRuntimeRestart")])).toBe("Error");
    });
  });

  it("leaves a stopped one where a bootstrap is announced over what is still suspended", () => {
    const left: SandboxRecord = { phase: "Stopped", desired: "running", since: 0 };
    const seen = (conditions: unknown): string =>
      derivePhase({ record: left, observation: see(conditions), now: 0 }).phase;
    const bootstrapping = { type: "Bootstrapping", status: "True", reason: "Preparing" };
    expect(seen([bootstrapping, { type: "Suspended", status: "True", reason: "PodTerminated" }])).toBe(
      "Stopped",
    );
    expect(seen([bootstrapping, ready("False", "DependenciesNotReady")])).toBe("Provisioning");
  });

  it.each([
    [[ready("Unknown", "InspectFailed")], "Provisioning"],
    [[], "Provisioning"],
    [null, "Provisioning"],
    [[{ type: "SUSPENDED", status: "TRUE", reason: "PodTerminated" }], "Stopped"],
    [[{ type: "Stopped", status: "True", reason: "ComputeStopped" }], "Stopped"],
    [[{ type: "Suspended", status: "False", reason: "PodNotOwned" }], "Error"],
    [
      [{ type: "Suspended", status: "False", reason: "NotSuspended" }, ready("True", "DependenciesReady")],
      "Ready",
    ],
    [[ready("False", "SandboxSuspended")], "Provisioning"],
    [[ready("False", "PodSucceeded")], "Completed"],
    [[ready("True", "A"), ready("False", "B")], "Provisioning"],
  ])("%j is %s", (conditions, phase) => {
    expect(phaseOf(conditions)).toBe(phase);
  });

  it("names its run in either spelling of its protocol", () => {
    for (const key of ["main_process_instance_id", "mainProcessInstanceId"]) {
      const status = { [key]: "i-1", conditions: [ready("True", "AllUp")] };
      expect(observeOpenShellStatus({ status })).toMatchObject({ instanceId: "i-1", stale: false });
      expect(observeOpenShellStatus({ status }, { run: { instanceId: "i-2" } }).stale).toBe(true);
    }
  });

  it("is a status also beside an error that is none", () => {
    const status = { conditions: [ready("True", "AllUp")] };
    for (const error of [null, undefined])
      expect(observeOpenShellStatus({ status, error })).toMatchObject({ exists: true, running: true });
    const none = observeOpenShellStatus({ status: null });
    expect(none).toMatchObject({ workload: "unknown", terminating: null, conditions: [] });
  });

  it("lets a provably empty backend beat a Ready that was left behind", () => {
    const conditions = [ready("True", "DependenciesReady")];
    expect(phaseOf(conditions, { replicas: 0, podCount: 0, bootstrapping: false })).toBe("Stopped");
    expect(phaseOf(conditions, { replicas: 0, podCount: 0 })).toBe("Provisioning");
    expect(phaseOf(conditions, { replicas: 0 })).toBe("Ready");
    expect(phaseOf(conditions, { replicas: 1, podCount: 0 })).toBe("Ready");
  });

  it("tells no status from a failed look-up, and both from absence", () => {
    expect(observeOpenShellStatus({ status: null })).toMatchObject({
      exists: true,
      running: null,
      deleting: null,
    });
    expect(observeOpenShellStatus({ status: undefined }).exists).toBeNull();
    expect(observeOpenShellStatus({ status: null, error: { code: 5 } }).exists).toBe(false);
    expect(observeOpenShellStatus({ status: {}, error: { code: 14 } }).exists).toBeNull();
  });

  it("marks the generation before as behind", () => {
    expect(see([ready("True", "BackendReady")], { previousGeneration: true }).stale).toBe(true);
  });

  it("reads the deleting flag over everything", () => {
    const observation = observeOpenShellStatus({
      status: { deleting: true, conditions: [ready("True", "BackendReady")] },
    });
    expect(observation).toMatchObject({ deleting: true, terminating: true });
  });
});
