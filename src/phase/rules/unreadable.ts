import { isReadyForbidden } from "../evidence.js";
import { always, hold } from "./outcome.js";
import type { PhaseRule } from "./rule.js";

export const unreadable: readonly PhaseRule[] = [
  {
    name: "session-over-silence",
    group: "6. Unreadable",
    condition:
      "Whether anything executes is unknown, neither a stop nor anything terminal is reported, a live session of this run exists, and the record is `Provisioning`, `Unknown` or `Ready`.",
    outcome: "`Ready`, unless admission or the deadline forbids it",
    phases: ["Ready"],
    rationale:
      "A session can only come from a running workload, so it answers what a backend without a status leaves open.",
    uses: [
      "running",
      "stale",
      "terminating",
      "failureClass",
      "session",
      "record.phase",
      "record.admission",
      "record.deadline",
    ],
    holds: false,
    on: { running: null },
    when: ({ observation, record, live, now }) =>
      live &&
      observation.running === null &&
      !observation.stale &&
      observation.terminating !== true &&
      observation.failureClass !== "terminal" &&
      (record.phase === "Provisioning" || record.phase === "Unknown" || record.phase === "Ready") &&
      !isReadyForbidden(record, now),
    decide: always("Ready", "DependenciesReady", "The supervisor of this run is connected."),
  },
  {
    name: "node-lost",
    group: "6. Unreadable",
    condition:
      "Whether anything executes is unknown because the node does not report, and no live session of this run says it.",
    outcome: "`Unknown` / `NodeLost`",
    phases: ["Unknown"],
    rationale:
      "Container states are the node's last words; the process may still run, so neither Ready nor a second copy is safe.",
    uses: ["running", "stale", "failureReason", "session"],
    holds: true,
    on: { running: null },
    when: ({ observation, live }) =>
      !live && observation.running === null && !observation.stale && observation.failureReason === "NodeLost",
    decide: always(
      "Unknown",
      "NodeLost",
      "The node does not report; the state of the workload is unknowable.",
    ),
  },
  {
    name: "unreadable",
    group: "6. Unreadable",
    condition: "The observation is of another run or generation, or whether anything executes is unknown.",
    outcome: "The record is held.",
    phases: ["held"],
    rationale:
      "Unknown is not false: the exit of the previous run must not fail the new one (NVIDIA/OpenShell#2857), and an empty state word is no exit.",
    uses: ["running", "stale"],
    holds: true,
    when: ({ observation }) => observation.stale || observation.running === null,
    decide: (context) => hold(context, "Unreadable"),
  },
];
