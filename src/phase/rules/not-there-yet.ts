import { isDeadlineOver } from "../evidence.js";
import { published, type PublishedReason } from "../reasons.js";
import { timedOut, to } from "./outcome.js";
import { backendIsReady, sessionSatisfies } from "./readiness.js";
import type { PhaseRule, RuleContext } from "./rule.js";

/** Why a sandbox that is not ready yet is not ready yet. */
function waitingReason(context: RuleContext): string | PublishedReason {
  const { observation, record } = context;
  if (backendIsReady(context)) {
    if (!sessionSatisfies(context)) return "SupervisorNotConnected";
    if (record.admission === "rejected") return "ConfigurationInvalid";
    if (record.admission === "pending") return "ConfigurationPending";
  }
  return published(
    observation.ready === true ? { ...observation, backendReason: null } : observation,
    record.phase === "Starting" ? "Starting" : "DependenciesNotReady",
    record.phase === "Starting" ? "Starting" : "Provisioning",
  );
}

export const notThereYet: readonly PhaseRule[] = [
  {
    name: "deadline-over-late",
    group: "11. Not there yet",
    condition: "Nothing above holds and the stored deadline is over.",
    outcome: "`Error` with the deadline's timeout reason",
    phases: ["Error"],
    rationale:
      "A record that comes from somewhere else than `Provisioning` or `Starting` gets no more time than they do, and readiness after the deadline does not count.",
    uses: ["record.deadline", "now", "ready"],
    holds: false,
    when: ({ record, now }) => isDeadlineOver(record, now),
    decide: timedOut,
  },
  {
    name: "still-starting",
    group: "11. Not there yet",
    condition: "The record is `Starting` and nothing above holds.",
    outcome: "`Starting`",
    phases: ["Starting"],
    rationale: "The deadline, not a reason string, turns waiting into failure.",
    uses: ["record.phase", "ready", "failureReason"],
    holds: false,
    when: ({ record }) => record.phase === "Starting",
    decide: (context) => to("Starting", waitingReason(context), "The start is not finished yet."),
  },
  {
    name: "not-there-yet",
    group: "11. Not there yet",
    condition: "Nothing above holds.",
    outcome: "`Provisioning`",
    phases: ["Provisioning"],
    rationale:
      "Running but not ready after having been ready demotes, it does not fail; the deadline bounds the wait.",
    uses: ["record.phase", "ready", "failureReason"],
    holds: false,
    when: () => true,
    decide: (context) => to("Provisioning", waitingReason(context), "The sandbox is not ready yet."),
  },
];
