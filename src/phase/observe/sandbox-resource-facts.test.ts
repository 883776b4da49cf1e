import { describe, expect, it } from "vitest";
import {
  condition,
  type Json,
  none,
  pod,
  RUN,
  sandbox,
  see,
  SUSPEND,
} from "../../../test/phase/sandbox-resources.js";
import type { Observation } from "../observation.js";

describe("an agent-sandbox resource, fact by fact", () => {
  const up = condition("Ready", "True", "AllUp");
  const one = { items: [pod()] };
  const withPod = (status: Json, more: Json = {}): { readonly items: readonly Json[] } => {
    const base = pod();
    const { status: before } = base;
    return { items: [{ ...base, ...more, status: { ...(before as Json), ...status } }] };
  };
  const waits = (reason: string): { readonly items: readonly Json[] } =>
    withPod({
      phase: "Pending",
      conditions: [{ type: "Ready", status: "False" }],
      containerStatuses: [{ name: "agent", state: { waiting: { reason } } }],
    });

  it.each<[string, Json, unknown, Partial<Observation>]>([
    [
      "ready",
      sandbox(RUN, [up]),
      one,
      {
        workload: "present",
        running: true,
        ready: true,
        readiness: "signal",
        suspended: false,
        terminating: false,
      },
    ],
    ["ready, pods not asked", sandbox(RUN, [up]), null, { workload: "unknown", running: null, ready: true }],
    ["ready over no pod", sandbox(RUN, [up]), none, { workload: "absent", running: false, ready: false }],
    [
      "ready over a pod that waits",
      sandbox(RUN, [up]),
      waits("ContainerCreating"),
      { running: false, ready: false },
    ],
    [
      "ready over a pod that is not",
      sandbox(RUN, [up]),
      { items: [pod({ ready: false })] },
      { running: true, ready: false, readiness: "signal" },
    ],
    [
      "ready over a pod that goes away",
      sandbox(RUN, [up]),
      { items: [pod({ deleting: true })] },
      { running: true, ready: false, terminating: true },
    ],
    [
      "not ready over a pod that is",
      sandbox(RUN, [condition("Ready", "False", "DependenciesNotReady")]),
      one,
      { running: true, ready: false, readiness: "signal", failureReason: null, failureClass: null },
    ],
    [
      "of unknown readiness",
      sandbox(RUN, [condition("Ready", "Unknown", "NoWord")]),
      one,
      { running: true, ready: null, readiness: "unreadable", backendReason: "NoWord" },
    ],
    [
      "without a word on readiness",
      sandbox(RUN),
      one,
      { ready: true, readiness: "signal", backendReason: null },
    ],
    ["without a word on readiness, nor a pod", sandbox(RUN), none, { ready: null, readiness: "unreadable" }],
    [
      "ready by an older generation",
      sandbox(RUN, [condition("Ready", "True", "AllUp", 1)]),
      none,
      { ready: null, readiness: "unreadable", behind: true, backendReason: "AllUp" },
    ],
    [
      "ready by an older generation, over a pod that waits",
      sandbox(RUN, [condition("Ready", "True", "AllUp", 1)]),
      waits("ErrImagePull"),
      { ready: false, behind: true, backendReason: "ErrImagePull" },
    ],
    [
      "of a contradiction",
      sandbox(RUN, [up, condition("Ready", "False", "Down")]),
      one,
      { ready: null, readiness: "unreadable", behind: true, backendReason: null, failureClass: "transient" },
    ],
    [
      "of a controller that fails",
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      one,
      { ready: false, readiness: "unreadable", failureReason: "BackendError", failureClass: "transient" },
    ],
    [
      "suspended",
      sandbox(SUSPEND, [condition("Suspended", "True", "PodTerminated"), up]),
      none,
      { suspended: true, running: false, ready: false, terminating: false, backendReason: "PodTerminated" },
    ],
    [
      "suspended, with a word of the readiness alone",
      sandbox(SUSPEND, [condition("Ready", "False", "SandboxSuspended", 1)]),
      none,
      { suspended: true, backendReason: "SandboxSuspended" },
    ],
    [
      "being suspended",
      sandbox(SUSPEND, [condition("Suspended", "False", "PodTerminating")]),
      one,
      { suspended: false, running: true, ready: false, terminating: true, failureReason: null },
    ],
    [
      "suspended before its condition says so",
      sandbox(SUSPEND, [condition("Suspended", "False", "PodTerminating")]),
      none,
      { suspended: true, running: false, terminating: false, backendReason: "PodTerminating" },
    ],
    [
      "kept from being suspended",
      sandbox(SUSPEND, [condition("Suspended", "False", "PodNotOwned")]),
      none,
      { suspended: false, failureReason: "OwnershipConflict", failureClass: "terminal" },
    ],
    [
      "kept from a suspension that nobody wants any more",
      sandbox(RUN, [condition("Suspended", "False", "PodNotOwned"), up]),
      one,
      { suspended: false, ready: true, failureReason: null, backendReason: "AllUp" },
    ],
    [
      "suspended while it is removed",
      sandbox(SUSPEND, [], { deletionTimestamp: "2026-10-20T12:00:00Z" }),
      none,
      { deleting: true, suspended: false, terminating: true },
    ],
    [
      "removed",
      sandbox(RUN, [up], { deletionTimestamp: "2026-10-20T12:00:00Z" }),
      one,
      { deleting: true, terminating: true, ready: false },
    ],
    [
      "of a mode that is not known",
      sandbox({ operatingMode: "Hibernating" }),
      none,
      { suspended: null, running: false, terminating: false },
    ],
    [
      "finished, as its controller alone says",
      sandbox(RUN, [condition("Finished", "True", "PodSucceeded")]),
      null,
      {
        completed: true,
        running: false,
        endedBy: "guest",
        failureReason: null,
        backendReason: "PodSucceeded",
      },
    ],
    [
      "failed, as its controller alone says",
      sandbox(RUN, [condition("Finished", "True", "PodFailed")]),
      none,
      {
        completed: true,
        running: false,
        endedBy: "unknown",
        failureReason: "ProcessExited",
        backendReason: "PodFailed",
      },
    ],
    [
      "finished under a stop",
      sandbox(SUSPEND, [condition("Finished", "True", "PodFailed"), up]),
      none,
      { completed: false, suspended: true, failureReason: null, backendReason: "AllUp" },
    ],
    [
      "finished of a mode that is not known",
      sandbox({ operatingMode: "Hibernating" }, [condition("Finished", "True", "PodFailed")]),
      none,
      { completed: false },
    ],
    [
      "over with its pod",
      sandbox(RUN, [condition("Ready", "False", "PodSucceeded")]),
      { items: [pod({ code: 0 })] },
      {
        completed: true,
        exitCode: 0,
        endedBy: "guest",
        finishedAt: Date.parse("2026-10-20T11:40:02Z"),
        failureReason: null,
      },
    ],
    [
      "over with its pod, by a failure",
      sandbox(RUN),
      { items: [pod({ code: 3 })] },
      {
        completed: true,
        exitCode: 3,
        endedBy: "unknown",
        failureReason: "ProcessExited",
        failureClass: "terminal",
      },
    ],
    [
      "expired",
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      none,
      { failureReason: "Expired", failureClass: "terminal", terminating: false },
    ],
    [
      "expired, with a pod that failed",
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      { items: [pod({ code: 3 })] },
      { failureReason: "Expired", terminating: true },
    ],
    [
      "that says of itself that more than one pod is its own",
      sandbox(RUN, [condition("Ready", "False", "MultiplePods")]),
      one,
      { failureReason: "OwnershipConflict", failureClass: "terminal" },
    ],
    [
      "without a node",
      sandbox(RUN, [condition("PodScheduled", "False", "Unschedulable")]),
      none,
      { failureReason: "Unschedulable", failureClass: "transient" },
    ],
    [
      "without a node for a reason of tomorrow",
      sandbox(RUN, [condition("PodScheduled", "False", "OfTomorrow")]),
      none,
      { failureReason: null, failureClass: null },
    ],
    [
      "without a node under a stop",
      sandbox(SUSPEND, [condition("PodScheduled", "False", "Unschedulable")]),
      none,
      { failureReason: null, failureClass: null },
    ],
    [
      "whose pod waits for a word of tomorrow",
      sandbox(RUN, [condition("Ready", "False", "DependenciesNotReady")]),
      waits("OfTomorrow"),
      { failureReason: null, failureClass: "transient" },
    ],
    [
      "whose pod waits for what may still come",
      sandbox(RUN, [condition("Ready", "False", "DependenciesNotReady")]),
      waits("ErrImagePull"),
      { failureReason: "ImagePullFailed", failureClass: "transient", backendReason: "DependenciesNotReady" },
    ],
    [
      "of a suspension that contradicts itself",
      sandbox(RUN, [condition("Suspended", "True", "A"), condition("Suspended", "False", "B"), up]),
      one,
      { ready: true, behind: true },
    ],
    [
      "of an older suspension, ready",
      sandbox(RUN, [condition("Suspended", "True", "PodTerminated", 1), up]),
      one,
      { ready: true, behind: false },
    ],
    [
      "of an older suspension, not ready",
      sandbox(RUN, [condition("Suspended", "True", "PodTerminated", 1)]),
      none,
      { ready: null, behind: true },
    ],
    [
      "of an older suspension under the next one",
      sandbox(SUSPEND, [condition("Suspended", "True", "PodTerminated", 1)]),
      none,
      { suspended: true, behind: false, backendReason: null },
    ],
  ])("%s", (_name, resource, pods, facts) => {
    expect(see(resource, pods)).toMatchObject({ exists: true, stale: false, ...facts });
  });

  it("shows its conditions, its generation and its run, by its own word before its pod's", () => {
    const labels = { "slipway.dev/instance-id": "i-1" };
    const named = pod();
    const pods = { items: [{ ...named, metadata: { ...(named["metadata"] as Json), labels } }] };
    expect(see(sandbox(RUN, [up]), pods)).toMatchObject({
      generation: 2,
      instanceId: "i-1",
      conditions: [{ type: "Ready", status: "True", reason: "AllUp", observedGeneration: 2 }],
    });
    const annotations = { "slipway.dev/instance-id": "i-2" };
    expect(see(sandbox(RUN, [up], { annotations }), pods).instanceId).toBe("i-2");
    expect(see(sandbox(RUN, [up], { labels: annotations }), none).instanceId).toBe("i-2");
    expect(see(sandbox(RUN, [up]), none).instanceId).toBeNull();
  });

  it("is as stale as the pod that speaks for it", () => {
    const labels = { "slipway.dev/instance-id": "i-1" };
    const named = pod();
    const pods = { items: [{ ...named, metadata: { ...(named["metadata"] as Json), labels } }] };
    expect(see(sandbox(RUN, [up]), pods, { run: { instanceId: "i-2" } }).stale).toBe(true);
  });
});
