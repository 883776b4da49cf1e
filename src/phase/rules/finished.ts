import type { PhaseInput } from "../evidence.js";
import { published } from "../reasons.js";
import { always, failure, hold, to } from "./outcome.js";
import type { PhaseRule, RuleContext } from "./rule.js";

/** Whether an end that is seen may be the one that is recorded: nothing that is known of both differs. */
function isSameEnd(
  record: PhaseInput["record"],
  { exitCode, finishedAt }: RuleContext["observation"],
): boolean {
  const recordedAt = record.finishedAt ?? null;
  return (
    (exitCode === null || exitCode === record.exitCode) &&
    (finishedAt === null || recordedAt === null || finishedAt === recordedAt)
  );
}

export const finished: readonly PhaseRule[] = [
  {
    name: "restart-pending",
    group: "7. Finished",
    condition: "The record is `Starting` with an exit code of the run before, and that end is what is seen.",
    outcome: "The record is held.",
    phases: ["Starting"],
    rationale:
      "An automatic restart is under way: the end that led to it is no news, and the deadline bounds the wait. A new start clears the code.",
    uses: ["completed", "running", "exitCode", "finishedAt", "record.phase", "record.exitCode"],
    holds: false,
    on: { running: false },
    when: ({ observation, record }) =>
      record.phase === "Starting" &&
      typeof record.exitCode === "number" &&
      observation.completed === true &&
      observation.running === false &&
      isSameEnd(record, observation),
    decide: (context) => hold(context, "Starting"),
  },
  {
    name: "finished-failed",
    group: "7. Finished",
    condition: "The run is over and a cause is known that waiting cannot mend.",
    outcome: "`Error` with that cause",
    phases: ["Error"],
    rationale: "An eviction or a node shutdown ends a run with exit 0 as well: the cause outranks the code.",
    uses: ["completed", "running", "failureReason", "failureClass"],
    holds: false,
    on: { running: false },
    when: ({ observation }) =>
      observation.completed === true &&
      observation.running === false &&
      observation.failureReason !== null &&
      observation.failureClass !== "transient",
    decide: (context) => failure(context, "ProcessExited"),
  },
  {
    name: "finished-well",
    group: "7. Finished",
    condition: "The run is over with exit code 0, or without a code but by the guest's own doing.",
    outcome: "`Completed`",
    phases: ["Completed"],
    rationale: "A result is recorded once and never replayed.",
    uses: ["completed", "running", "exitCode", "endedBy"],
    holds: false,
    on: { running: false },
    when: ({ observation }) =>
      observation.completed === true &&
      observation.running === false &&
      (observation.exitCode === 0 || (observation.exitCode === null && observation.endedBy === "guest")),
    decide: always("Completed", "MainProcessCompleted", "The run ended by itself with success."),
  },
  {
    name: "finished-unexplained",
    group: "7. Finished",
    condition: "The run is over, without success and without a known cause.",
    outcome: "`Error` with the most specific word there is",
    phases: ["Error"],
    rationale: "Success is claimed on proof only.",
    uses: ["completed", "running", "exitCode", "endedBy"],
    holds: false,
    on: { running: false },
    when: ({ observation }) => observation.completed === true && observation.running === false,
    decide: ({ observation }) =>
      to("Error", published(observation, "ProcessExited", "Error"), "The run ended without success."),
  },
];
