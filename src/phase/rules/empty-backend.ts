import { isCurrent, isEmptyBackend } from "../evidence.js";
import { hold, to } from "./outcome.js";
import type { PhaseRule } from "./rule.js";

export const emptyBackend: readonly PhaseRule[] = [
  {
    name: "empty-backend",
    group: "9. Empty backend",
    condition:
      "Not `Starting`; suspended, nothing executes, no bootstrap under way, the observation not older than the record's last write or start request, and no live session of this run.",
    outcome: "`Stopped` / `BackendEmpty` (`Suspended` while the paused unit is still there)",
    phases: ["Stopped"],
    rationale:
      "A record that waits over a backend at zero replicas and no pod waits for ever; as `Stopped` it can be started again with the same identity and workspace. A `Starting` record stays and its gate offers `retry`. Absence without suspension is waiting.",
    uses: [
      "suspended",
      "running",
      "bootstrapping",
      "workload",
      "observedAt",
      "session",
      "record.phase",
      "record.since",
      "record.startRequestedAt",
    ],
    holds: false,
    on: { running: false },
    when: ({ record, observation, live }) =>
      record.phase !== "Starting" && !live && isEmptyBackend(record, observation),
    decide: ({ observation }) =>
      observation.workload === "present"
        ? to("Stopped", "Suspended", "The backend keeps the run suspended; start resumes it.")
        : to(
            "Stopped",
            "BackendEmpty",
            "The backend has nothing that runs; start reuses identity and workspace.",
          ),
  },
  {
    name: "empty-unproven",
    group: "9. Empty backend",
    condition:
      "The backend looks empty, but the observation is older than the record's last write or start request.",
    outcome: "The record is held.",
    phases: ["held"],
    rationale: "Old news may be about the time before the last write: the next observation decides.",
    uses: ["suspended", "running", "observedAt", "record.since", "record.startRequestedAt"],
    holds: true,
    on: { running: false },
    when: ({ record, observation, live }) =>
      !live &&
      observation.suspended === true &&
      observation.running === false &&
      !isCurrent(record, observation),
    decide: (context) => hold(context, "Unreadable"),
  },
  {
    name: "suspended-kept",
    group: "9. Empty backend",
    condition: "The record is `Stopped`, and the backend is suspended with nothing that executes.",
    outcome: "`Stopped`",
    phases: ["Stopped"],
    rationale:
      "A bootstrap that was announced over a backend at rest has not begun yet: what leaves `Stopped` is work, not its announcement.",
    uses: ["suspended", "running", "session", "record.phase"],
    holds: false,
    on: { running: false },
    when: ({ record, observation, live }) =>
      record.phase === "Stopped" && !live && observation.suspended === true && observation.running === false,
    decide: (context) => hold(context, "Stopped"),
  },
];
