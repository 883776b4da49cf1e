import { describe, expect, it } from "vitest";
import { type Json, ready, see } from "../../../test/phase/openshell-status.js";
import type { Observation } from "../observation.js";
import type { OpenShellStatusInput } from "./openshell.js";

describe("OpenShell's driver status", () => {
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
});
