import { checkMoment, checkObject, checkWord } from "./check-input.js";
import { isCurrent, isMarked, isOwnEnd, isShutdownEnd } from "./evidence.js";
import type { Observation } from "./observation.js";
import {
  BACKEND_RESOURCE_MISSING,
  catalogName,
  COMPUTE_RESOURCE_MISSING,
  exitReasons,
  isRecoverable,
} from "./reasons.js";
import { reconcileRecord } from "./reconcile-record.js";
import type { PhasePolicy, SandboxRecord } from "./record.js";
import type { RecoveryResult, SweepOptions, SweepPlan } from "./sweep.js";
import { enter, unchanged, unmarked, type Transition } from "./transition.js";

/** A runtime that went down under a healthy sandbox: started again (NVIDIA/OpenShell#2269). */
const RESUMABLE: ReadonlySet<string> = new Set(["ContainerRuntimeRestart", "ContainerStopped"]);

/**
 * What a gateway does about a record when it comes up, before its watches start.
 *
 * `Stopping` is finished and `Starting` is started again, whatever the driver. Where the gateway manages the
 * lifecycle, everything that was to run is started. A result is never replayed, also one that only the look at the
 * backend shows, except after a runtime restart. No result is what the gateway's own shutdown ended
 * ({@link planShutdown}), nor, for a `Starting` record, an end that is not known to be of the start under way.
 *
 * @throws {@link SlipwayError} `INVALID_OPTION` for no record or options, or no `now` in them.
 *
 * @example
 * ```ts
 * import { planRecovery } from "slipway/phase";
 *
 * const record = { phase: "Stopping", desired: "stopped", since: 0 } as const;
 * planRecovery(record, { managesLifecycle: false, now: Date.now() }).call; // => "stop"
 * ```
 *
 * @public
 */
export function planRecovery(record: SandboxRecord, options: SweepOptions): SweepPlan {
  checkObject("record", record);
  checkMoment(options);
  const { now } = options;
  const seen = options.observation ?? null;
  const call = recoveryCall(record, options);
  const stopped = seen !== null && call === "start" && isShutdownLeft(record, seen, options);
  if (seen !== null && !stopped && isEvidence(record, seen)) {
    const looked = reconcileRecord(record, seen, null, now, options.policy);
    const { phase } = looked.record;
    if (looked.changed && phase !== record.phase && (phase === "Error" || phase === "Completed")) {
      const settled = unmarked(looked.record, now);
      return { call: recoveryCall(settled, options), record: settled, changed: true, sessionCleanup: true };
    }
  }
  const next = stopped ? afterShutdownEnd(record, seen, now) : call === null ? unmarked(record, now) : record;
  const sessionCleanup = record.phase === "Stopped" && call === null;
  return { call, record: next, changed: next !== record, sessionCleanup };
}

/**
 * A stop is finished whatever is seen, a start under way is judged by no end of another run, and what is missed in a look
 * from before the record was written may have been started since.
 */
function isEvidence(record: SandboxRecord, seen: Observation): boolean {
  if (seen.completed !== true && !isCurrent(record, seen)) return false;
  if (record.phase === "Starting" && seen.completed === true) return isOwnEnd(record, seen);
  return record.phase !== "Stopping";
}

/** Whether what is seen is what the gateway's own shutdown left: an end since it asked for the stop, or nothing at all. */
function isShutdownLeft(record: SandboxRecord, seen: Observation, { policy }: SweepOptions): boolean {
  if (seen.exists === false && policy?.removesComputeOnStop !== true) return false;
  return (
    seen.running === false &&
    isShutdownEnd(record, seen.completed === true ? (seen.finishedAt ?? null) : null)
  );
}

/** That end is the run before's for whatever looks until the start has taken place. */
function afterShutdownEnd(record: SandboxRecord, { finishedAt }: Observation, now: number): SandboxRecord {
  const previous = record.previousFinishedAt ?? null;
  if (typeof finishedAt !== "number" || (previous !== null && finishedAt <= previous)) return record;
  return { ...record, previousFinishedAt: finishedAt, updatedAt: now };
}

function recoveryCall(record: SandboxRecord, { managesLifecycle, policy }: SweepOptions): SweepPlan["call"] {
  // A result that was stopped afterwards keeps its phase; nothing starts it but a user.
  if (record.desired !== "running" && record.phase !== "Stopping") return null;
  if (managesLifecycle && isShutdownResult(record, policy)) return "start";
  switch (record.phase) {
    case "Stopping":
      return "stop";
    case "Starting":
      return "start";
    case "Provisioning":
    case "Ready":
    case "Unknown":
      return managesLifecycle ? "start" : null;
    case "Error":
      return managesLifecycle && isResumable(record, policy) ? "start" : null;
    case "Stopped":
    case "Completed":
    case "Deleting":
    case "Deleted":
      return null;
  }
}

/**
 * Whether a look that was applied between a shutdown's mark and the end of its gateway has recorded what that shutdown did:
 * no result is marked, so that whatever stands in a marked record came later.
 */
function isShutdownResult(record: SandboxRecord, policy: PhasePolicy | undefined): boolean {
  if (!isMarked(record) || record.desired !== "running") return false;
  if (record.phase === "Stopping" || isAtRest(record)) return true;
  if (policy?.removesComputeOnStop === true && isLoss(record)) return true;
  return isRunEnd(record) && isShutdownEnd(record, record.finishedAt ?? null);
}

/** `Stopped` over a backend that keeps the run at rest, or has nothing: a time to live that is over is another matter. */
function isAtRest({ phase, reason }: SandboxRecord): boolean {
  return phase === "Stopped" && (reason === "BackendEmpty" || reason === "Suspended");
}

/** What a driver that removes compute when it stops leaves behind. */
function isLoss({ phase, reason }: SandboxRecord): boolean {
  return phase === "Error" && reason === COMPUTE_RESOURCE_MISSING;
}

/** A lost object, a conflict of owners or an expired attempt is no end of a run. */
function isRunEnd({ phase, exitCode, reason }: SandboxRecord): boolean {
  if (phase !== "Error") return phase === "Completed";
  return typeof exitCode === "number" || (typeof reason === "string" && exitReasons.has(catalogName(reason)));
}

function isResumable({ reason, exitCode }: SandboxRecord, policy: PhasePolicy | undefined): boolean {
  if (typeof reason !== "string") return false;
  if (isRecoverable(reason, policy)) return true;
  return typeof exitCode !== "number" && RESUMABLE.has(reason);
}

/**
 * The record after a recovery call. A start fences off what happened while the gateway was down; one that was under way
 * is the same start again, as it is under the gate's route `retry`.
 *
 * @throws {@link SlipwayError} `INVALID_OPTION` for no record or options, no `now` in them, or an unknown call or result.
 *
 * @example
 * ```ts
 * import { applyRecovery } from "slipway/phase";
 *
 * const record = { phase: "Ready", desired: "running", since: 0 } as const;
 * const options = { managesLifecycle: true, now: Date.now() };
 * applyRecovery(record, "start", "not-found", options).record.reason; // => "BackendResourceMissing"
 * ```
 *
 * @public
 */
export function applyRecovery(
  record: SandboxRecord,
  call: "start" | "stop",
  result: RecoveryResult,
  options: SweepOptions,
): Transition {
  checkObject("record", record);
  checkMoment(options);
  checkWord("call", call, "start", "stop");
  checkWord("result", result, "ok", "not-found", "error");
  const { now } = options;
  const left = unmarked(record, now);
  if (call === "stop") {
    if (result === "error") return unchanged(record);
    return {
      record: enter(left, "Stopped", "Stopped", "Stopped; the gateway finished it when it came up.", now),
      changed: true,
      refused: null,
    };
  }
  if (result === "ok") return { record: restarted(record, now), changed: true, refused: null };
  // A start that was accepted before is retained for its retry; the deadline bounds it.
  if (record.phase === "Starting" && (result === "error" || !options.managesLifecycle))
    return retained(record, now);
  if (record.phase === "Error") return { record: left, changed: left !== record, refused: null };
  const next =
    result === "not-found"
      ? enter(
          left,
          "Error",
          BACKEND_RESOURCE_MISSING,
          "The compute object was gone when the gateway came up.",
          now,
        )
      : enter(
          left,
          "Error",
          "StartFailed",
          "The sandbox could not be started when the gateway came up.",
          now,
        );
  return { record: next, changed: true, refused: null };
}

/** A start under way is repeated, unless the gateway itself had stopped what it brought about. */
function isSameStart(record: SandboxRecord): boolean {
  return record.phase === "Starting" && !isMarked(record);
}

/**
 * A start that waits for its retry. Over what a shutdown stopped it is a new one from now on: its time keeps that end
 * away as the mark did, and takes nothing of what the retry brings about for the shutdown's doing.
 */
function retained(record: SandboxRecord, now: number): Transition {
  if (!isMarked(record)) return unchanged(record);
  return { record: { ...unmarked(record, now), startRequestedAt: now }, changed: true, refused: null };
}

function restarted(record: SandboxRecord, now: number): SandboxRecord {
  const fenced: SandboxRecord = {
    ...record,
    startRequestedAt: isSameStart(record) ? (record.startRequestedAt ?? now) : now,
    previousFinishedAt: record.finishedAt ?? record.previousFinishedAt ?? null,
    shutdownStopAt: null,
    exitCode: null,
    finishedAt: null,
    updatedAt: now,
  };
  const { phase } = record;
  return phase === "Error" || phase === "Completed" || phase === "Stopping" || phase === "Stopped"
    ? enter(fenced, "Provisioning", "Resumed", "Started again after its runtime went down.", now)
    : fenced;
}
