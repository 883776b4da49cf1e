import { describe, expect, it } from "vitest";
import {
  condition,
  type Json,
  none,
  phaseOf,
  pod,
  RUN,
  running,
  sandbox,
  see,
  stopping,
  SUSPEND,
} from "../../../test/phase/sandbox-resources.js";
import { derivePhase } from "../derive-phase.js";
import type { SandboxRecord } from "../record.js";

describe("an agent-sandbox resource, by the table of its releases", () => {
  it.each<[string, SandboxRecord, Json, unknown, string]>([
    [
      "deletionTimestamp",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")], {
        deletionTimestamp: "2026-10-20T12:00:00Z",
      }),
      { items: [pod()] },
      "Deleting",
    ],
    ["suspend, none owned", stopping, sandbox(SUSPEND), none, "Stopped"],
    ["suspend, items null", stopping, sandbox(SUSPEND), { items: null }, "Stopped"],
    ["suspend, array of pods", stopping, sandbox(SUSPEND), [], "Stopped"],
    ["suspend, mode in capitals", stopping, sandbox({ operatingMode: "SUSPENDED" }), none, "Stopped"],
    [
      "suspend, pod goes away",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "False", "PodTerminating")]),
      { items: [pod({ deleting: true })] },
      "Stopping",
    ],
    [
      "suspend, pod still up",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "False", "PodNotTerminated")]),
      { items: [pod()] },
      "Stopping",
    ],
    ["suspend, pod ended but there", stopping, sandbox(SUSPEND), { items: [pod({ code: 143 })] }, "Stopping"],
    [
      "suspend, not owned",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "False", "PodNotOwned")]),
      { items: [pod({ uid: "other" })] },
      "Error",
    ],
    [
      "suspend, pods not asked",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "True", "PodTerminated")]),
      null,
      "Stopping",
    ],
    [
      "suspend, a page of pods",
      stopping,
      sandbox(SUSPEND),
      { items: [], metadata: { continue: "t" } },
      "Stopping",
    ],
    [
      "ready",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "ready, but its pod is gone",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      none,
      "Provisioning",
    ],
    [
      "ready, but its pod is not",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod({ ready: false })] },
      "Provisioning",
    ],
    [
      "ready by an older generation, pod ready",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady", 1)]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "not ready yet",
      running,
      sandbox(RUN, [condition("Ready", "False", "DependenciesNotReady")]),
      none,
      "Provisioning",
    ],
    [
      "controller failing, pod up",
      running,
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "suspend, two pods still up",
      stopping,
      sandbox(SUSPEND),
      { items: [pod(), pod({ name: "sb-2" })] },
      "Stopping",
    ],
    [
      "an empty deletionTimestamp",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")], { deletionTimestamp: "" }),
      { items: [pod()] },
      "Ready",
    ],
    [
      "ready, pods unknown",
      running,
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      null,
      "Ready",
    ],
    [
      "two live pods",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod(), pod({ name: "sb-2" })] },
      "Error",
    ],
    [
      "failed predecessor beside a ready successor",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod({ code: 1, deleting: true }), pod({ name: "sb-2" })] },
      "Ready",
    ],
    [
      "finished well",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodSucceeded")]),
      { items: [pod({ code: 0 })] },
      "Completed",
    ],
    [
      "finished well, pod gone",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodSucceeded")]),
      none,
      "Completed",
    ],
    [
      "finished badly, pod gone",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodFailed")]),
      none,
      "Error",
    ],
    [
      "finished of an older generation",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodFailed", 1)]),
      none,
      "Provisioning",
    ],
    [
      "finished said, but a pod runs",
      running,
      sandbox(RUN, [
        condition("Finished", "True", "PodFailed"),
        condition("Ready", "True", "DependenciesReady"),
      ]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "finished well, controller failing",
      running,
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      { items: [pod({ code: 0 })] },
      "Completed",
    ],
    [
      "expired, pod gone",
      running,
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      none,
      "Stopped",
    ],
    [
      "expired, pod left",
      running,
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      { items: [pod()] },
      "Stopping",
    ],
    ["no status", running, { metadata: { uid: "u-1" }, spec: {} }, none, "Provisioning"],
    ["replicas null", running, sandbox({ replicas: null }), none, "Provisioning"],
    ["an unknown mode", running, sandbox({ operatingMode: "Hibernating" }), none, "Provisioning"],
    [
      "a stale Suspended next to a ready pod",
      running,
      sandbox(RUN, [
        condition("Suspended", "True", "PodTerminated", null),
        condition("Ready", "True", "DependenciesReady", null),
      ]),
      { items: [pod()] },
      "Ready",
    ],
  ])("%s", (_name, record, resource, pods, phase) => {
    expect(phaseOf(record, resource, pods)).toBe(phase);
  });
});

it("an expired one whose pod is long overdue on its node is unknown, not ready", () => {
  const resource = sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]);
  const observedAt = Date.parse("2026-10-20T13:00:00Z");
  const observation = see(resource, { items: [pod({ deleting: true })] }, { observedAt });
  expect(derivePhase({ record: running, observation, now: observedAt })).toMatchObject({
    phase: "Unknown",
    reason: "NodeLost",
  });
});
