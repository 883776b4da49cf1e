import type { PhaseInput } from "../evidence.js";
import { catalogName, exitReasons, MAIN_PROCESS_COMPLETED, restartableReasons } from "../reasons.js";
import { isStopIntent } from "./intent.js";
import { always, failure, hold } from "./outcome.js";
import type { PhaseRule, RuleContext } from "./rule.js";

/** The run has ended and left a code: a lost object or a conflict of owners, found later, is no result. */
function isOwnResult({ phase, reason, exitCode }: PhaseInput["record"]): boolean {
  if (phase === "Completed") return true;
  if (phase !== "Error" || typeof exitCode !== "number" || typeof reason !== "string") return false;
  const name = catalogName(reason);
  return restartableReasons.has(name) || exitReasons.has(name);
}

/** Nothing executes and nothing is about to: proven, on an observation that is of this run. */
function provesStopped({ observation }: RuleContext): boolean {
  return (
    observation.running === false &&
    observation.terminating !== true &&
    !observation.stale &&
    (observation.completed === true || observation.suspended === true || observation.workload === "absent")
  );
}

export const stopIntent: readonly PhaseRule[] = [
  {
    name: "stop-kept",
    group: "5. Stop intent",
    condition: "Stop was asked for and the record is `Stopped` already.",
    outcome: "`Stopped`; `stop-workload` when something executes.",
    phases: ["Stopped"],
    rationale:
      "What executes behind a stopped record is work for the gateway, not a phase: an exited container is what stopped looks like, and a late snapshot must not rewrite it (NVIDIA/OpenShell#3083).",
    uses: ["record.phase", "record.desired"],
    holds: false,
    on: { desired: "stopped" },
    when: (context) => isStopIntent(context) && context.record.phase === "Stopped",
    decide: (context) => hold(context, "Stopped"),
  },
  {
    name: "stop-of-result",
    group: "5. Stop intent",
    condition:
      "Stop was asked for, the record is `Completed` or the `Error` of a run that left an exit code, and nothing is seen to execute.",
    outcome: "The record is held.",
    phases: ["Completed", "Error"],
    rationale:
      "The run was over before the stop, which had nothing to do: how it ended is worth more than that it was stopped afterwards.",
    uses: ["running", "record.phase", "record.desired"],
    holds: false,
    on: { desired: "stopped" },
    when: (context) =>
      isStopIntent(context) && isOwnResult(context.record) && context.observation.running !== true,
    // An error without a reason is no result of a run.
    decide: (context) => hold(context, MAIN_PROCESS_COMPLETED),
  },
  {
    name: "stop-conflict",
    group: "5. Stop intent",
    condition: "Stop was asked for and the backend objects cannot be mapped to this sandbox.",
    outcome: "`Error` / `OwnershipConflict`",
    phases: ["Error"],
    rationale: "A stop that is blocked by somebody else's object does not finish without an operator.",
    uses: ["failureReason", "stale", "record.desired"],
    holds: false,
    on: { desired: "stopped" },
    when: (context) =>
      isStopIntent(context) &&
      context.observation.failureReason === "OwnershipConflict" &&
      !context.observation.stale,
    decide: (context) => failure(context, "OwnershipConflict"),
  },
  {
    name: "stop-done",
    group: "5. Stop intent",
    condition:
      "Stop was asked for, nothing executes, nothing is being torn down, and the run is over, suspended or proven absent.",
    outcome: "`Stopped`",
    phases: ["Stopped"],
    rationale:
      "An exit during our own stop confirms it, whatever the code, although the container or VM object is still there.",
    uses: ["running", "terminating", "completed", "suspended", "workload", "stale", "record.desired"],
    holds: false,
    on: { desired: "stopped", running: false },
    when: (context) => isStopIntent(context) && provesStopped(context),
    decide: always("Stopped", "Stopped", "Stopped as asked; identity and workspace are kept."),
  },
  {
    name: "stop-waiting",
    group: "5. Stop intent",
    condition: "Stop was asked for and something may still execute.",
    outcome: "`Stopping`",
    phases: ["Stopping"],
    rationale: "Without proof that the process is gone, `Stopped` may not be claimed.",
    uses: ["running", "terminating", "record.desired"],
    holds: false,
    on: { desired: "stopped" },
    when: isStopIntent,
    decide: always("Stopping", "Stopping", "Stop was accepted; something may still execute."),
  },
];
