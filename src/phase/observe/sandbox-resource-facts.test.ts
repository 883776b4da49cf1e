import { describe, expect, it } from "vitest";
import { one, up, waits } from "../../../test/phase/sandbox-facts.js";
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
