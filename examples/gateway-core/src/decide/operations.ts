import { digestOf } from "../record/digest.js";
import type { JsonObject } from "../record/json.js";
import { isComingUp } from "../record/phase.js";
import type { SandboxRecord } from "../record/record.js";
import { beginAttempt, type AttemptStart } from "./attempt.js";
import { applyToDeadline, observeTime, withCondition, withPhase, type Decision } from "./decision.js";

/** What became of a user's request. `changed: false` is a request that was fulfilled already. */
export type OperationResult =
  | { readonly ok: true; readonly changed: boolean }
  | { readonly ok: false; readonly code: string; readonly message: string };

const done = (changed: boolean): OperationResult => ({ ok: true, changed });
const refused = (code: string, message: string): OperationResult => ({ ok: false, code, message });

/** A start waits for a pending cleanup: it is recorded, and begins when the cleanup is done. */
export function requestStart(
  found: SandboxRecord,
  start: AttemptStart,
  now: number,
): Decision<OperationResult> {
  const record = observeTime(found, now);
  if (record.phase === "Deleting")
    return { record, result: refused("deleting", "the sandbox is being deleted") };
  if (record.phase === "Stopping") {
    return {
      record,
      result: refused("stopping", "the sandbox is still stopping; start it when it is Stopped"),
    };
  }
  if (isComingUp(record.phase) || record.phase === "Ready" || record.startPending) {
    return { record, result: done(false) };
  }
  if (record.deadline?.cleanup.status === "pending") {
    const waiting = { ...record, desired: "running" as const, startPending: true, startRequestedAt: now };
    return { record: waiting, result: done(true) };
  }
  const begun = beginAttempt(record, start, now);
  if (begun.result.begun) return { record: begun.record, result: done(true) };
  return { record, result: refused(begun.result.why, `no attempt may start now: ${begun.result.why}`) };
}

/** A start that waited begins once nothing is in its way. */
export function beginPending(found: SandboxRecord, start: AttemptStart, now: number): Decision<boolean> {
  const record = observeTime(found, now);
  if (!record.startPending) return { record, result: false };
  const begun = beginAttempt(record, start, now);
  return { record: begun.record, result: begun.result.begun };
}

export function requestStop(found: SandboxRecord, now: number): Decision<OperationResult> {
  const record = observeTime(found, now);
  if (record.phase === "Deleting")
    return { record, result: refused("deleting", "the sandbox is being deleted") };
  const atRest = record.phase === "Stopped" || record.phase === "Stopping" || record.phase === "Completed";
  if (atRest && !record.startPending) return { record, result: done(false) };
  const next = end(record, "stopped by request", now);
  const stopping = { reason: "Stopping", message: "the workload is being stopped" };
  return {
    record: { ...withPhase(next, "Stopping", stopping, now), desired: "stopped" },
    result: done(true),
  };
}

export function requestDelete(found: SandboxRecord, now: number): Decision<OperationResult> {
  const record = observeTime(found, now);
  if (record.phase === "Deleting") return { record, result: done(false) };
  const next = end(record, "deleted by request", now);
  const deleting = { reason: "Deleting", message: "the sandbox is being deleted" };
  return {
    record: { ...withPhase(next, "Deleting", deleting, now), desired: "deleted" },
    result: done(true),
  };
}

function end(record: SandboxRecord, reason: string, now: number): SandboxRecord {
  const attempt = record.deadline?.attempt ?? "";
  const cancelled = applyToDeadline(record, { type: "cancel", attempt, reason }, now).record;
  return { ...cancelled, startPending: false, lease: null };
}

/** What was driven to an end by the driver is at rest. */
export function markStopped(record: SandboxRecord, now: number): Decision<boolean> {
  if (record.phase !== "Stopping") return { record, result: false };
  const stopped = { reason: "Stopped", message: "" };
  const next = withPhase({ ...record, instance: null, lease: null }, "Stopped", stopped, now);
  return { record: { ...next, finishedAt: record.finishedAt ?? now }, result: true };
}

export interface ConfigurationWrite {
  readonly policy: JsonObject;
  /** Refuse unless this is the current generation. */
  readonly ifGeneration?: number | undefined;
}

export type UpdateResult =
  | OperationResult
  | { readonly ok: true; readonly changed: true; readonly renewed: boolean; readonly sameContent: boolean };

/**
 * Commits a configuration. Each write is a generation of its own; whether it is a real change is told by its digest,
 * and a write of what was there already opens no window.
 */
export function updateConfiguration(
  found: SandboxRecord,
  write: ConfigurationWrite,
  now: number,
): Decision<UpdateResult> {
  const record = observeTime(found, now);
  const current = record.configuration;
  if (record.phase === "Deleting")
    return { record, result: refused("deleting", "the sandbox is being deleted") };
  if (write.ifGeneration !== undefined && write.ifGeneration !== current.generation) {
    const message = `the configuration is at generation ${current.generation}, not ${write.ifGeneration}`;
    return { record, result: refused("generation-conflict", message) };
  }
  const generation = current.generation + 1;
  const digest = digestOf(write.policy);
  const sameContent = digest === current.digest;
  const configuration = { generation, digest, committedAt: now, policy: write.policy };
  const attempt = record.deadline?.attempt ?? "";
  const change = { type: "change", attempt, generation, digest, committedAt: now } as const;
  const { record: changed, outcome } = applyToDeadline({ ...record, configuration }, change, now);
  const result = {
    ok: true,
    changed: true,
    renewed: outcome.applied && outcome.renewed === true,
    sameContent,
  } as const;
  if (sameContent || changed.deadline?.status !== "active") return { record: changed, result };
  const pending = {
    type: "ConfigurationReady",
    status: "Unknown",
    reason: "ConfigurationPending",
    message: "",
  } as const;
  const judged = withCondition(changed, { ...pending, observedGeneration: generation }, now);
  return { record: { ...judged, admission: "pending" }, result };
}
