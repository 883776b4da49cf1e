import { isDeadlineOver, type PhaseInput } from "../evidence.js";
import { MAIN_PROCESS_COMPLETED } from "../reasons.js";
import { hold, timedOut } from "./outcome.js";
import type { PhaseRule } from "./rule.js";

function isWaiting({ phase }: PhaseInput["record"]): boolean {
  return phase === "Provisioning" || phase === "Starting";
}

export const recordedResult: readonly PhaseRule[] = [
  {
    name: "result-kept",
    group: "4. A recorded result",
    condition: "The record is `Error` or `Completed` and the intent is to run.",
    outcome: "The record is held.",
    phases: ["Error", "Completed"],
    rationale:
      "Only an accepted operation leaves a result: a terminal pod regresses to Running in a later read (kubernetes/kubernetes#58711), and a completed command must not be replayed.",
    uses: ["record.phase", "record.desired"],
    holds: false,
    on: { desired: "running" },
    when: ({ record }) =>
      (record.phase === "Error" || record.phase === "Completed") && record.desired === "running",
    decide: (context) =>
      hold(context, context.record.phase === "Completed" ? MAIN_PROCESS_COMPLETED : "BackendError"),
  },
  {
    name: "deadline-over",
    group: "4. A recorded result",
    condition:
      "The intent is to run, the record is `Provisioning` or `Starting`, and its stored deadline is over.",
    outcome: "`Error` with the deadline's timeout reason",
    phases: ["Error"],
    rationale:
      "Expiry is a function of (record, now): readiness that arrives late does not revive an attempt whose timer has not fired yet.",
    uses: ["record.phase", "record.desired", "record.deadline", "now"],
    holds: false,
    on: { desired: "running" },
    when: ({ record, now }) =>
      isWaiting(record) && record.desired === "running" && isDeadlineOver(record, now),
    decide: timedOut,
  },
];
