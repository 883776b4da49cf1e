import {
  isCurrent,
  isDeadlineOver,
  isEmptyBackend,
  isGoing,
  isReadyForbidden,
  type PhaseInput,
} from "./evidence.js";
import type { Phase } from "./phase.js";
import {
  catalogName,
  COMPUTE_RESOURCE_MISSING,
  exitReasons,
  IMAGE_PREPARATION_TIMED_OUT,
  MAIN_PROCESS_COMPLETED,
  PROVISIONING_TIMED_OUT,
  type PublishedReason,
  published,
  restartableReasons,
} from "./reasons.js";
import type { PhaseRule, RuleContext, RuleOutcome } from "./rule.js";

const NOTHING_NEW: RuleOutcome["conditions"] = Object.freeze([]);

/** The record as it stands: an outcome that keeps phase, reason, message and conditions. */
function hold({ record }: RuleContext, fallback: string): RuleOutcome {
  return {
    phase: record.phase,
    reason: record.reason ?? fallback,
    message: record.message ?? "",
    conditions: NOTHING_NEW,
  };
}

function to(phase: Phase, said: string | PublishedReason, message: string): RuleOutcome {
  const status = phase === "Ready" ? "True" : phase === "Unknown" ? "Unknown" : "False";
  const { reason, cause } = typeof said === "string" ? { reason: said, cause: undefined } : said;
  return { phase, reason, message, conditions: [{ type: "Ready", status, reason, message, cause }] };
}

/** An outcome that is always the same is made once. */
function always(phase: Phase, reason: string, message: string): () => RuleOutcome {
  const outcome = Object.freeze(to(phase, reason, message));
  return () => outcome;
}

function isDeleteIntent(context: RuleContext): boolean {
  return context.record.desired === "deleted";
}

function isStopIntent(context: RuleContext): boolean {
  return context.record.desired === "stopped";
}

/** The run has ended and left a code: a lost object or a conflict of owners, found later, is no result. */
function isOwnResult({ phase, reason, exitCode }: PhaseInput["record"]): boolean {
  if (phase === "Completed") return true;
  if (phase !== "Error" || typeof exitCode !== "number" || typeof reason !== "string") return false;
  const name = catalogName(reason);
  return restartableReasons.has(name) || exitReasons.has(name);
}

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

function isWaiting({ phase }: PhaseInput["record"]): boolean {
  return phase === "Provisioning" || phase === "Starting";
}

function timedOut({ record }: RuleContext): RuleOutcome {
  return to(
    "Error",
    record.deadline?.timeoutReason ??
      (record.deadline?.lastPhase === false ? IMAGE_PREPARATION_TIMED_OUT : PROVISIONING_TIMED_OUT),
    "The deadline of this attempt is over.",
  );
}

function sessionSatisfies({ policy, live }: RuleContext): boolean {
  return policy?.requireSession !== true || live;
}

function backendIsReady({ observation }: RuleContext): boolean {
  return (
    observation.running === true &&
    (observation.ready === true || (observation.readiness === "none" && observation.ready !== false))
  );
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

function failure(context: RuleContext, fallback: string): RuleOutcome {
  const { observation } = context;
  return to(
    "Error",
    published(observation, fallback, "Error"),
    observation.message ?? "The backend reports a failure that waiting cannot mend.",
  );
}

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

/**
 * The rules of {@link derivePhase}, in order: the first whose condition holds decides.
 *
 * The order is part of the contract. Identity is settled before the rules run: an observer drops evidence of another
 * run and marks what is left as `stale`.
 *
 * @example
 * ```ts
 * import { phaseRules } from "slipway/phase";
 *
 * phaseRules[0]?.name; // => "no-observation"
 * ```
 *
 * @public
 */
export const phaseRules: readonly PhaseRule[] = Object.freeze([
  {
    name: "no-observation",
    group: "1. No observation",
    condition: "The look-up failed: nothing was learnt, not even whether the object exists.",
    outcome: "The record is held.",
    phases: ["held"],
    rationale:
      "A transport error, a refusal or a 5xx says nothing about the sandbox; stopping a daemon once turned healthy sandboxes into permanent errors (NVIDIA/OpenShell#3440). Only a definite not-found is absence.",
    uses: ["exists"],
    holds: true,
    on: { exists: null },
    when: ({ observation }) => observation.exists === null,
    decide: (context) => hold(context, "BackendUnreachable"),
  },
  {
    name: "object-deleting",
    group: "2. Deleting",
    condition: "The durable object is being removed.",
    outcome: "`Deleting`",
    phases: ["Deleting"],
    rationale:
      "Conditions freeze once an object is being removed, so nothing else that it shows may count any more; this outranks a recorded result too.",
    uses: ["exists", "deleting"],
    holds: false,
    on: { exists: true },
    when: ({ observation }) => observation.exists === true && observation.deleting === true,
    decide: always("Deleting", "Deleting", "The backend is removing the sandbox."),
  },
  {
    name: "delete-intent",
    group: "2. Deleting",
    condition: "Delete was accepted and the object is still there.",
    outcome: "`Deleting`",
    phases: ["Deleting"],
    rationale: "A finalizer of somebody else may hold the object for long; the accepted delete stands.",
    uses: ["exists", "record.desired"],
    holds: false,
    on: { exists: true, desired: "deleted" },
    when: (context) => context.observation.exists === true && isDeleteIntent(context),
    decide: always("Deleting", "Deleting", "Delete was accepted; the object is still there."),
  },
  {
    name: "deleting-unconfirmed",
    group: "2. Deleting",
    condition:
      "The record is `Deleting` without delete intent, and whether the object is still being removed is unknown.",
    outcome: "The record is held.",
    phases: ["Deleting"],
    rationale:
      "The removal was seen once; only an object that is definitely not being removed takes it back.",
    uses: ["exists", "deleting", "record.phase"],
    holds: true,
    on: { exists: true },
    when: ({ observation, record }) =>
      observation.exists === true && record.phase === "Deleting" && observation.deleting === null,
    decide: (context) => hold(context, "Deleting"),
  },
  {
    name: "deleted",
    group: "2. Deleting",
    condition: "Definitely gone, after delete intent or after the removal was seen.",
    outcome: "`Deleted`",
    phases: ["Deleted"],
    rationale: "Not-found after a delete closes the life of the sandbox.",
    uses: ["exists", "record.desired", "record.phase"],
    holds: false,
    on: { exists: false },
    when: (context) => context.observation.exists === false && isGoing(context),
    decide: always("Deleted", "Deleted", "The backend object is gone after a delete."),
  },
  {
    name: "gone-kept",
    group: "3. Gone without delete intent",
    condition: "Definitely gone while the record is `Provisioning`, `Unknown`, `Completed` or `Error`.",
    outcome: "The record is held; `prune-candidate` unless it carries a result worth keeping.",
    phases: ["Provisioning", "Unknown", "Completed", "Error"],
    rationale:
      "A create that was accepted a moment ago is missing from a lagging cache, and a result outlives its compute object.",
    uses: ["exists", "record.phase"],
    holds: false,
    on: { exists: false },
    when: ({ observation, record }) =>
      observation.exists === false &&
      (record.phase === "Provisioning" ||
        record.phase === "Unknown" ||
        record.phase === "Completed" ||
        record.phase === "Error"),
    decide: (context) => hold(context, COMPUTE_RESOURCE_MISSING),
  },
  {
    name: "gone-is-stopped",
    group: "3. Gone without delete intent",
    condition: "Definitely gone under stop intent, and the driver removes compute when it stops.",
    outcome: "`Stopped`",
    phases: ["Stopped"],
    rationale: "For such a driver absence is what a finished stop looks like.",
    uses: ["exists", "record.desired", "record.phase", "policy"],
    holds: false,
    on: { exists: false },
    when: (context) =>
      context.observation.exists === false &&
      context.policy?.removesComputeOnStop === true &&
      (isStopIntent(context) || context.record.phase === "Stopped"),
    decide: always("Stopped", "Stopped", "Stopped; the driver keeps no compute object."),
  },
  {
    name: "gone-is-error",
    group: "3. Gone without delete intent",
    condition: "Definitely gone while the record is `Starting`, `Stopping`, `Ready` or `Stopped`.",
    outcome: "`Error` / `ComputeResourceMissing`",
    phases: ["Error"],
    rationale:
      "Each of these phases promised that the object is kept, so its loss is an error and not a silent removal.",
    uses: ["exists", "record.phase"],
    holds: false,
    on: { exists: false },
    when: ({ observation }) => observation.exists === false,
    decide: always(
      "Error",
      COMPUTE_RESOURCE_MISSING,
      "The compute object is gone although nobody asked to delete it.",
    ),
  },
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
  {
    name: "foreign-stop",
    group: "8. Stopped by somebody else",
    condition: "The run is being stopped although nobody asked this gateway.",
    outcome: "`Stopping`",
    phases: ["Stopping"],
    rationale: "A third party's delete is in progress; what follows shows in the next observation.",
    uses: ["terminating"],
    holds: false,
    when: ({ observation }) => observation.terminating === true,
    decide: ({ observation }) =>
      to(
        "Stopping",
        published(observation, "Stopping", "Stopping"),
        "The run is being stopped from outside.",
      ),
  },
  {
    name: "expired",
    group: "8. Stopped by somebody else",
    condition: "The backend's time to live is over and nothing executes.",
    outcome: "`Stopped` / `Expired`",
    phases: ["Stopped"],
    rationale: "The backend tore the run down on a schedule and keeps the object; nothing failed.",
    uses: ["failureReason", "running"],
    holds: false,
    on: { running: false },
    when: ({ observation }) => observation.failureReason === "Expired" && observation.running === false,
    decide: always("Stopped", "Expired", "The backend's time to live is over."),
  },
  {
    name: "terminal-failure",
    group: "8. Stopped by somebody else",
    condition: "The observer classes the failure as terminal.",
    outcome: "`Error` with that reason",
    phases: ["Error"],
    rationale:
      "Nothing retries it: a start attempt is over, a guest has crashed, two pods claim one sandbox.",
    uses: ["failureClass", "failureReason"],
    holds: false,
    when: ({ observation }) => observation.failureClass === "terminal",
    decide: (context) => failure(context, "BackendError"),
  },
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
] satisfies PhaseRule[]);
