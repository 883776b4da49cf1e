import { isEmptyBackend, isGoing } from "../evidence.js";
import {
  catalogName,
  isRecoverable as isRecoverableReason,
  ISOLATION_BACKEND_MISMATCH,
  restartableReasons,
  timeoutReasons,
} from "../reasons.js";
import type { GateInput, GateRule } from "./gate-rule.js";

function isRecoverable({ record, policy }: GateInput): boolean {
  return typeof record.reason === "string" && isRecoverableReason(record.reason, policy);
}

function isResult({ record }: GateInput): boolean {
  return record.phase === "Error" || record.phase === "Completed";
}

function isTimedOut({ record }: GateInput): boolean {
  return record.phase === "Error" && typeof record.reason === "string" && timeoutReasons.has(record.reason);
}

/** An expired attempt whose deadline does not say that it was cleaned up counts as not cleaned up. */
function owesCleanup(input: GateInput): boolean {
  const deadline = input.record.deadline ?? null;
  if (deadline === null) return false;
  return deadline.cleanupPending === true || (isTimedOut(input) && deadline.cleanupPending !== false);
}

function hasEmptyBackend({ record, observation }: GateInput): boolean {
  return observation !== null && observation !== undefined && isEmptyBackend(record, observation);
}

/** Nothing was ever started and nothing is there: not even a start that went wrong. */
function isNeverStarted({ record, observation }: GateInput): boolean {
  return (
    (record.startRequestedAt ?? null) === null &&
    (record.instanceId ?? null) === null &&
    (record.finishedAt ?? null) === null &&
    observation?.exists === false
  );
}

/**
 * The gate of start, in order.
 *
 * @public
 */
export const startRules: readonly GateRule[] = Object.freeze([
  {
    name: "start-while-deleting",
    operation: "start",
    condition: "`Deleting`, `Deleted` or delete intent",
    route: null,
    reason: "Deleting",
    rationale: "A delete is final.",
    when: isGoing,
  },
  {
    name: "start-ready",
    operation: "start",
    condition: "`Ready`",
    route: "noop",
    reason: null,
    rationale: "It runs already: an idempotent return without a driver call.",
    when: ({ record }) => record.phase === "Ready",
  },
  {
    name: "start-while-stopping",
    operation: "start",
    condition: "`Stopping`",
    route: null,
    reason: "Stopping",
    rationale: "Something may still execute; stop may be asked for again, and start once it is `Stopped`.",
    when: ({ record }) => record.phase === "Stopping",
  },
  {
    name: "start-backend-mismatch",
    operation: "start",
    condition: "The isolation backend that the sandbox is pinned to is not the one selected",
    route: null,
    reason: ISOLATION_BACKEND_MISMATCH,
    rationale: "Such a start cannot succeed; restoring the selection opens the gate again.",
    when: ({ record, backendMatches }) =>
      backendMatches === false ||
      (record.phase === "Error" && record.reason === ISOLATION_BACKEND_MISMATCH && backendMatches !== true),
  },
  {
    name: "start-running",
    operation: "start",
    condition: "`Starting`, and this instance runs",
    route: "noop",
    reason: null,
    rationale: "The start has worked; what is missing is readiness.",
    when: ({ record, observation }) =>
      record.phase === "Starting" && observation?.running === true && !observation.stale,
  },
  {
    name: "start-retry",
    operation: "start",
    condition: "`Starting`",
    route: "retry",
    reason: null,
    rationale: "The same start again under the same instance id is idempotent, and gets a lost one going.",
    when: ({ record }) => record.phase === "Starting",
  },
  {
    name: "start-cleanup-pending",
    operation: "start",
    condition: "The cleanup of an expired or cancelled attempt is not done",
    route: null,
    reason: "CleanupPending",
    rationale: "What that attempt left would run beside the new one.",
    when: owesCleanup,
  },
  {
    name: "start-not-wanted",
    operation: "start",
    condition: "Automatic start under stop intent",
    route: null,
    reason: "AutomaticStartRefused",
    rationale: "Somebody asked for a stop, which also stands for a run that had ended by itself before.",
    when: ({ record, by }) => by === "automatic" && record.desired === "stopped",
  },
  {
    name: "start-recoverable",
    operation: "start",
    condition: "`Stopped`, `Completed` or `Error` for a reason in `policy.recoverable`",
    route: "restart",
    reason: null,
    rationale: "The gateway has declared these ends to be nobody's fault.",
    when: (input) => (isResult(input) || input.record.phase === "Stopped") && isRecoverable(input),
  },
  {
    name: "start-not-automatic",
    operation: "start",
    condition: "Automatic start of `Stopped`, `Completed` or `Error`, or over an empty backend",
    route: null,
    reason: "AutomaticStartRefused",
    rationale:
      "A stop or a result is left by a person's decision, not by a timer; a completed command is never replayed.",
    when: (input) =>
      input.by === "automatic" &&
      (isResult(input) || input.record.phase === "Stopped" || hasEmptyBackend(input)),
  },
  {
    name: "start-fresh",
    operation: "start",
    condition: "`Stopped`, never started, and the backend has no object",
    route: "fresh",
    reason: null,
    rationale: "First start.",
    when: (input) => input.record.phase === "Stopped" && isNeverStarted(input),
  },
  {
    name: "start-stopped",
    operation: "start",
    condition: "`Stopped`",
    route: "resume",
    reason: null,
    rationale: "Same identity, same workspace.",
    when: ({ record }) => record.phase === "Stopped",
  },
  {
    name: "start-completed",
    operation: "start",
    condition: "`Completed`",
    route: "restart",
    reason: null,
    rationale: "Running it again is the caller's explicit wish: a new run over the same workspace.",
    when: ({ record }) => record.phase === "Completed",
  },
  {
    name: "start-after-timeout",
    operation: "start",
    condition: "`Error` of an expired attempt, cleaned up",
    route: "restart",
    reason: null,
    rationale: "A new attempt with a new deadline.",
    when: isTimedOut,
  },
  {
    name: "start-backend-restored",
    operation: "start",
    condition: "`Error` / `IsolationBackendMismatch`, and the backend matches again",
    route: "restart",
    reason: null,
    rationale: "The advice to restore the selection has to lead somewhere.",
    when: ({ record }) => record.phase === "Error" && record.reason === ISOLATION_BACKEND_MISMATCH,
  },
  {
    name: "start-after-failure",
    operation: "start",
    condition: "`Error` with a recorded exit code, or for a reason that means the run is over",
    route: "restart",
    reason: null,
    rationale: "The run is over and its workspace is intact, whoever ended it.",
    when: ({ record }) =>
      record.phase === "Error" &&
      (typeof record.exitCode === "number" ||
        (typeof record.reason === "string" && restartableReasons.has(catalogName(record.reason)))),
  },
  {
    name: "start-error",
    operation: "start",
    condition: "`Error` otherwise",
    route: null,
    reason: "NotRecoverable",
    rationale: "Whether anything still executes is not settled: stop settles it, then start is open.",
    when: ({ record }) => record.phase === "Error",
  },
  {
    name: "start-empty",
    operation: "start",
    condition: "`Provisioning` or `Unknown` over a backend that is provably empty",
    route: "resume",
    reason: null,
    rationale: "The next reconcile makes it `Stopped`; a user need not wait for that.",
    when: hasEmptyBackend,
  },
  {
    name: "start-provisioning",
    operation: "start",
    condition: "`Provisioning` or `Unknown` otherwise",
    route: null,
    reason: "InProgress",
    rationale: "A start is under way or may be; its deadline bounds it, and stop is open.",
    when: () => true,
  },
] satisfies GateRule[]);
