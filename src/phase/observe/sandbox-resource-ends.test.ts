import { describe, expect, it } from "vitest";
import { one, up } from "../../../test/phase/sandbox-facts.js";
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
});
