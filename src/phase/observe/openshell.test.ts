import { describe, expect, it } from "vitest";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import type { SandboxRecord } from "../record.js";
import { observeOpenShellStatus, type OpenShellStatusInput } from "./openshell.js";

type Json = Record<string, unknown>;

const ready = (status: string, reason: string): Json => ({ type: "Ready", status, reason });
const see = (
  conditions: unknown,
  more: Partial<OpenShellStatusInput> = {},
): ReturnType<typeof observeOpenShellStatus> => observeOpenShellStatus({ status: { conditions }, ...more });

const record: SandboxRecord = { phase: "Provisioning", desired: "running", since: 0 };
const phaseOf = (conditions: unknown, more: Partial<OpenShellStatusInput> = {}): string =>
  derivePhase({ record, observation: see(conditions, more), now: 0 }).phase;

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

  const of = (type: string, status: string, reason: string): Json => ({ type, status, reason });
  it.each<[string, unknown, Partial<OpenShellStatusInput>, Partial<Observation>]>([
    [
      "ready",
      [ready("True", "AllUp")],
      {},
      { workload: "present", running: true, ready: true, readiness: "signal", backendReason: "AllUp" },
    ],
    [
      "ready, whatever was never taken back",
      [ready("True", "AllUp"), of("Suspended", "True", "PodTerminated")],
      {},
      { running: true, ready: true, suspended: false, backendReason: "AllUp" },
    ],
    [
      "empty",
      [ready("True", "AllUp")],
      { replicas: 0, podCount: 0 },
      { workload: "absent", running: false, ready: false, suspended: true, readiness: "signal" },
    ],
    ["with pods", [], { podCount: 2 }, { workload: "present", running: false, readiness: "unreadable" }],
    ["without pods", [], { podCount: 0 }, { workload: "absent", running: false }],
    ["with pods that nobody counted", [], {}, { workload: "unknown", running: false, suspended: false }],
    [
      "suspended",
      [of("Suspended", "True", "PodTerminated"), ready("False", "SandboxSuspended")],
      {},
      {
        workload: "absent",
        running: false,
        suspended: true,
        bootstrapping: false,
        backendReason: "PodTerminated",
      },
    ],
    [
      "suspended without a word of its own",
      [of("Suspended", "True", ""), ready("False", "SandboxSuspended")],
      {},
      { suspended: true, backendReason: "SandboxSuspended" },
    ],
    [
      "stopped",
      [of("Stopped", "True", "ComputeStopped")],
      {},
      { workload: "absent", running: false, suspended: true, backendReason: "ComputeStopped" },
    ],
    [
      "suspended while a bootstrap is announced",
      [of("Suspended", "True", "PodTerminated"), of("Bootstrapping", "True", "Preparing")],
      {},
      { suspended: true, bootstrapping: true },
    ],
    [
      "bootstrapping, as its driver knows",
      [of("Suspended", "True", "PodTerminated")],
      { bootstrapping: true },
      { suspended: true, bootstrapping: true },
    ],
    ["bootstrapping no more", [of("Bootstrapping", "False", "Done")], {}, { bootstrapping: null }],
    [
      "being suspended",
      [of("Suspended", "False", "PodTerminating"), ready("False", "SandboxSuspended")],
      {},
      {
        running: true,
        ready: false,
        terminating: true,
        backendReason: "PodTerminating",
        failureReason: null,
      },
    ],
    [
      "not suspended yet",
      [of("Suspended", "False", "PodNotTerminated")],
      {},
      { running: true, ready: false, terminating: true, backendReason: "PodNotTerminated" },
    ],
    [
      "kept from being suspended by somebody else's pod",
      [of("Suspended", "False", "PodNotOwned"), ready("False", "Starting")],
      {},
      {
        running: false,
        terminating: false,
        failureReason: "OwnershipConflict",
        failureClass: "terminal",
        backendReason: "PodNotOwned",
      },
    ],
    [
      "of a suspension that nobody can tell",
      [of("Suspended", "Unknown", "PodTerminating"), ready("False", "Starting")],
      {},
      { running: false, terminating: false, backendReason: "Starting" },
    ],
    [
      "of a suspension that contradicts itself",
      [of("Suspended", "True", "A"), of("Suspended", "False", "PodTerminating"), ready("False", "Starting")],
      {},
      { running: false, suspended: false, terminating: false, backendReason: "Starting" },
    ],
    [
      "of a readiness that contradicts itself",
      [ready("True", "A"), ready("False", "B")],
      {},
      { running: null, ready: null, behind: true, backendReason: null },
    ],
    [
      "of an unknown readiness",
      [ready("Unknown", "InspectFailed")],
      {},
      { running: null, ready: null, behind: false },
    ],
    [
      "failing to reconcile",
      [ready("False", "ReconcilerError")],
      {},
      { running: false, ready: false, failureReason: "BackendError", failureClass: "transient" },
    ],
    [
      "starting",
      [ready("False", "Starting")],
      {},
      { running: false, failureReason: null, failureClass: null, completed: false },
    ],
    ["executing", [ready("False", "SupervisorNotConnected")], {}, { running: true, ready: false }],
    [
      "over, with success",
      [ready("False", "PodSucceeded")],
      {},
      { completed: true, endedBy: "guest", failureReason: null },
    ],
    [
      "over, by memory",
      [ready("False", "OOMKilled")],
      {},
      { completed: true, failureReason: "OutOfMemory", failureClass: "terminal", backendReason: "OOMKilled" },
    ],
    [
      "over, for a word of its own",
      [ready("False", "ContainerDead")],
      {},
      { completed: true, failureReason: "ContainerDead" },
    ],
    [
      "failed, for a word of tomorrow",
      [ready("False", "OfTomorrow")],
      {},
      { completed: false, failureReason: "OfTomorrow", failureClass: "terminal" },
    ],
    [
      "failed, without a word",
      [ready("False", "")],
      {},
      { failureReason: "BackendError", backendReason: null },
    ],
  ])("%s, fact by fact", (_name, conditions, more, facts) => {
    expect(see(conditions, more)).toMatchObject(facts);
  });

  it.each<[string, Json, "absent" | "unknown"]>([
    ["nothing executes", ready("False", "Starting"), "absent"],
    ["the run is over anyway", ready("False", "ContainerDead"), "unknown"],
    ["it executes", ready("False", "SupervisorNotConnected"), "unknown"],
    ["it cannot be told", ready("Unknown", "InspectFailed"), "unknown"],
  ])("takes a container that stopped for proof that it is gone only where %s", (_name, said, workload) => {
    expect(see([of("Container", "False", "ContainerExited"), said]).workload).toBe(workload);
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
