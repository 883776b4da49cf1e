import { readDeadline, type DeadlineFacts, type SandboxRecord as PhaseRecord } from "slipway";
import { isComingUp } from "../record/phase.js";
import { instanceIdOf, type SandboxRecord } from "../record/record.js";
import { withBootstrapOver } from "./bootstrapped.js";
import { applyToDeadline, observeTime } from "./decision.js";

/** What the library's phase rules read of a record, with the record itself beside it. */
export interface PhaseFacts extends PhaseRecord {
  readonly origin: SandboxRecord;
}

/** The facts of a record. Pure; the rules answer with other facts, which {@link withFacts} puts into the record. */
export function phaseFacts(record: SandboxRecord): PhaseFacts {
  const { phase, desired, since, updatedAt, reason, message, conditions, instance } = record;
  const ahead = isStartAhead(record);
  return {
    origin: record,
    phase,
    desired,
    since,
    updatedAt,
    reason,
    message,
    conditions,
    instanceId: ahead ? null : (instance?.id ?? null),
    expectedInstanceId: ahead ? (instance?.id ?? instanceIdOf(record.id, record.run + 1)) : null,
    startRequestedAt: record.startRequestedAt,
    previousFinishedAt: record.previousFinishedAt,
    shutdownStopAt: record.shutdownStopAt,
    exitCode: record.exitCode,
    finishedAt: record.finishedAt,
    admission: admissionFact(record),
    deadline: deadlineFacts(record),
  };
}

/** A run that is not confirmed yet: no evidence of the one before it counts. */
function isStartAhead({ phase, deadline, restartAt }: SandboxRecord): boolean {
  return isComingUp(phase) && (deadline?.status === "active" || restartAt !== null);
}

/**
 * Readiness needs the supervisor's word that the admitted main process runs; the deadline completes with that word.
 * An accepted configuration alone is not enough.
 */
function admissionFact({ admission, deadline }: SandboxRecord): PhaseRecord["admission"] {
  if (admission === "rejected") return "rejected";
  return admission === "accepted" && deadline?.status === "completed" ? "accepted" : "pending";
}

function deadlineFacts({ deadline }: SandboxRecord): DeadlineFacts | null {
  if (deadline === null) return null;
  // Read as of the state's own time: the instant is wanted also when it has passed already.
  const { deadlineAt, phase } = readDeadline(deadline, deadline.observedAt);
  const { phases } = deadline.plan;
  return {
    deadlineAt,
    phase,
    lastPhase: phases.at(-1)?.name === phase,
    timeoutReason: phases.find(({ name }) => name === phase)?.timeoutReason,
    cleanupPending: deadline.cleanup.status === "pending",
  };
}

/**
 * A record with the facts that a rule answered with, and an attempt that fits them: what is ready has met its
 * deadline, and what came to an end needs none, but a cleanup. An expiry that is due goes before everything else.
 */
export function withFacts(found: SandboxRecord, facts: PhaseRecord, now: number): SandboxRecord {
  const record = observeTime(found, now);
  if (record !== found && record.deadline?.status !== found.deadline?.status) return record;
  // What an attempt waits for is the deadline's to say, with every change of it.
  if (isWaitingOn(record, facts) || isSetBack(record, facts)) return record;
  const settled = settle(record, facts, now);
  if (settled === null) return record;
  const { phase, desired, since, reason, message, conditions } = facts;
  const waits = isComingUp(phase) || phase === "Ready" || phase === "Unknown";
  const atRest = phase === "Stopped" || phase === "Completed" || phase === "Error";
  const next: SandboxRecord = {
    ...settled,
    phase,
    desired,
    since,
    updatedAt: facts.updatedAt ?? now,
    reason: reason ?? "",
    message: message ?? "",
    conditions: conditions ?? [],
    startRequestedAt: facts.startRequestedAt ?? null,
    previousFinishedAt: facts.previousFinishedAt ?? null,
    shutdownStopAt: facts.shutdownStopAt ?? null,
    exitCode: facts.exitCode ?? null,
    finishedAt: facts.finishedAt ?? (atRest ? now : null),
    // What its backend only suspends may go on as the run that it was.
    instance: phase === "Stopped" && desired === "stopped" ? null : record.instance,
    lease: waits ? record.lease : null,
    restartAt: phase === "Starting" ? record.restartAt : null,
    startPending: record.startPending && desired === "running",
  };
  // The facts were those from before the attempt was settled.
  return settled === record ? next : withBootstrapOver(next, now);
}

function isWaitingOn(record: SandboxRecord, { phase, desired, startRequestedAt }: PhaseRecord): boolean {
  return (
    record.deadline?.status === "active" &&
    isComingUp(phase) &&
    phase === record.phase &&
    desired === record.desired &&
    startRequestedAt === record.startRequestedAt
  );
}

/**
 * What an attempt has started is stopped by somebody else, as when a node is drained while a supervisor waits for its
 * gateway. Nobody has asked for the end of the attempt: what takes its place goes on under the same deadline. So it does
 * after an admission: the ledger tells whatever takes its place whether there is anything left to start.
 */
function isSetBack(record: SandboxRecord, { phase, desired }: PhaseRecord): boolean {
  const attempts = record.deadline?.status === "active" && isComingUp(record.phase);
  return attempts && record.desired === "running" && phase === "Stopping" && desired === "running";
}

/** The record with its attempt settled as the phase asks; `null` when the attempt does not allow that phase. */
function settle(record: SandboxRecord, { phase, message }: PhaseRecord, now: number): SandboxRecord | null {
  const { deadline } = record;
  if (deadline?.status !== "active" || isComingUp(phase) || phase === "Unknown") return record;
  const { attempt } = deadline;
  if (phase === "Ready" || phase === "Completed") {
    const { record: next, outcome } = applyToDeadline(record, { type: "complete", attempt }, now);
    if (outcome.applied) return next;
    if (phase === "Ready") return null;
  }
  const reason = message === null || message === undefined || message === "" ? phase : message;
  return applyToDeadline(record, { type: "cancel", attempt, reason }, now).record;
}
