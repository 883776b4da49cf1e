import { isReadyForbidden } from "../evidence.js";
import { always, hold } from "./outcome.js";
import { backendIsReady, sessionSatisfies } from "./readiness.js";
import type { PhaseRule } from "./rule.js";

export const ready: readonly PhaseRule[] = [
  {
    name: "ready",
    group: "10. Ready",
    condition:
      "It executes and is ready (or its backend has no readiness), with a live session where the policy requires one; never while admission is outstanding or refused, or the deadline is in an earlier phase.",
    outcome: "`Ready`",
    phases: ["Ready"],
    rationale:
      "A stale `Suspended` does not count against a workload that runs (NVIDIA/OpenShell#2933), and readiness of the backend alone is not usability.",
    uses: ["running", "ready", "readiness", "session", "policy", "record.admission", "record.deadline"],
    holds: false,
    on: { running: true },
    when: (context) =>
      backendIsReady(context) && sessionSatisfies(context) && !isReadyForbidden(context.record, context.now),
    decide: always("Ready", "DependenciesReady", "The sandbox is usable."),
  },
  {
    name: "session-over-lag",
    group: "10. Ready",
    condition:
      "A live session of this run, and nothing terminal is reported; admission and deadline as above.",
    outcome: "`Ready`",
    phases: ["Ready"],
    rationale: "A live session can only come from a running workload, so it outranks a snapshot that lags.",
    uses: ["session", "failureClass", "record.admission", "record.deadline"],
    holds: false,
    when: ({ record, live, now }) => live && !isReadyForbidden(record, now),
    decide: always("Ready", "DependenciesReady", "The supervisor of this run is connected."),
  },
  {
    name: "readiness-unreadable",
    group: "10. Ready",
    condition: "The record is `Ready`, the workload executes, and its readiness cannot be read.",
    outcome: "`Ready` is held.",
    phases: ["Ready"],
    rationale: "Conditions that contradict each other are no evidence; unknown readiness does not demote.",
    uses: ["running", "readiness", "record.phase", "session", "policy"],
    holds: false,
    on: { running: true },
    when: (context) =>
      context.record.phase === "Ready" &&
      context.observation.running === true &&
      context.observation.readiness === "unreadable" &&
      sessionSatisfies(context) &&
      !isReadyForbidden(context.record, context.now),
    decide: (context) => hold(context, "DependenciesReady"),
  },
];
