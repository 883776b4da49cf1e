import { acceptOperation, reconcileRecord, type GateDecision } from "slipway";
import { digestOf } from "../record/digest.js";
import type { JsonObject } from "../record/json.js";
import { isComingUp } from "../record/phase.js";
import type { SandboxRecord } from "../record/record.js";
import { beginAttempt, type AttemptStart } from "./attempt.js";
import { applyToDeadline, observeTime, withCondition, withPhase, type Decision } from "./decision.js";
import { relaunch } from "./driver-report.js";
import { gatesOf, type Surroundings } from "./gates.js";
import { phaseFacts, withFacts } from "./phase-facts.js";
import { isStartOutstanding } from "./seen.js";

/** What became of a user's request. `changed: false` is a request that was fulfilled already. */
export type OperationResult =
  | { readonly ok: true; readonly changed: boolean }
  | { readonly ok: false; readonly code: string; readonly message: string };

const done = (changed: boolean): OperationResult => ({ ok: true, changed });
const refused = (code: string, message: string): OperationResult => ({ ok: false, code, message });

/**
 * A user's start. One that is under way is fulfilled already; one over a pending cleanup is recorded, and begins when
 * the cleanup is done. What the backend was seen to be counts before the gate is asked, so that a record which the
 * next reconcile would correct stands in nobody's way.
 */
export function requestStart(
  found: SandboxRecord,
  start: AttemptStart,
  around: Surroundings,
  now: number,
): Decision<OperationResult> {
  const record = asSeen(observeTime(found, now), around, now);
  const gate = gatesOf(record, around, "user", now).start;
  const waiting = { ...record, desired: "running" as const, startPending: true, startRequestedAt: now };
  if (record.startPending && record.desired === "running") return { record, result: done(false) };
  if (!gate.allowed) {
    if (isComingUp(record.phase) && gate.reason === "InProgress") return { record, result: done(false) };
    if (gate.reason === "CleanupPending") return { record: waiting, result: done(true) };
    return { record, result: refusedBy(gate) };
  }
  switch (gate.route) {
    case "noop":
      return { record, result: done(false) };
    case "retry":
      return retryStart(record, around, now);
    default: {
      const begun = beginAttempt({ ...record, restarts: 0 }, start, now, gate.route);
      if (begun.result.begun) return { record: begun.record, result: done(true) };
      return { record, result: refused(begun.result.why, `no attempt may start now: ${begun.result.why}`) };
    }
  }
}

/** The record as the next reconcile would make it. */
function asSeen(record: SandboxRecord, { observation, policy }: Surroundings, now: number): SandboxRecord {
  if (observation === null || isStartOutstanding(record)) return record;
  const { record: facts, changed } = reconcileRecord(phaseFacts(record), observation, null, now, policy);
  return changed ? withFacts(record, facts, now) : record;
}

/** The same start again: at once instead of later, or anew where nothing of it is left. The deadline goes on. */
function retryStart(
  record: SandboxRecord,
  { observation }: Surroundings,
  now: number,
): Decision<OperationResult> {
  if (record.restartAt !== null && record.restartAt > now)
    return { record: { ...record, restartAt: now }, result: done(true) };
  const nothingRuns = observation?.running === false && !observation.stale;
  if (!nothingRuns || isStartOutstanding(record)) return { record, result: done(false) };
  if (record.activatedRun !== null) {
    // Its main process may have run: that takes an attempt of its own, once this one is cleaned up.
    const stopped = { reason: "BackendEmpty", message: "the backend has nothing that runs" };
    const facts = { ...phaseFacts(record), phase: "Stopped", updatedAt: now } as const;
    const ended = withPhase(withFacts(record, facts, now), "Stopped", stopped, now);
    return { record: { ...ended, startPending: true, startRequestedAt: now }, result: done(true) };
  }
  const again = relaunch(record, "started again by request", now);
  return { record: { ...again, launchNotBefore: now }, result: done(true) };
}

/** A start that waited begins once nothing is in its way. */
export function beginPending(
  found: SandboxRecord,
  start: AttemptStart,
  around: Surroundings,
  now: number,
): Decision<boolean> {
  const record = observeTime(found, now);
  if (!record.startPending) return { record, result: false };
  const gate = gatesOf(record, around, "user", now).start;
  if (!gate.allowed && gate.reason === "CleanupPending") return { record, result: false };
  // What else refuses it by now will not go away by waiting.
  if (!gate.allowed) return { record: { ...record, startPending: false }, result: false };
  const begun = beginAttempt({ ...record, restarts: 0 }, start, now, gate.route);
  return { record: begun.record, result: begun.result.begun };
}

export function requestStop(
  found: SandboxRecord,
  around: Surroundings,
  now: number,
): Decision<OperationResult> {
  const record = observeTime(found, now);
  const gate = gatesOf(record, around, "user", now).stop;
  if (!gate.allowed) return { record, result: refusedBy(gate) };
  if (gate.route === "noop") return withdrawStart(record, now);
  // A stop from outside may be under way: that somebody asked for it here is written all the same.
  const { record: next, changed } = acceptOperation(phaseFacts(record), "stop", gate, { now });
  if (!changed) return { record, result: done(false) };
  return { record: withFacts(record, next, now), result: done(true) };
}

/** Nothing executes, but something may be about to: a start that waits, a restart, or a run that its backend resumes. */
function withdrawStart(record: SandboxRecord, now: number): Decision<OperationResult> {
  if (!record.startPending && record.desired === "stopped") return { record, result: done(false) };
  const withdrawn = { ...record, startPending: false, desired: "stopped" as const, updatedAt: now };
  return { record: withdrawn, result: done(true) };
}

export function requestDelete(
  found: SandboxRecord,
  around: Surroundings,
  now: number,
): Decision<OperationResult> {
  const record = observeTime(found, now);
  if (record.desired === "deleted") return { record, result: done(false) };
  const gate = gatesOf(record, around, "user", now).delete;
  const { record: next, changed } = acceptOperation(phaseFacts(record), "delete", gate, { now });
  return changed
    ? { record: withFacts(record, next, now), result: done(true) }
    : { record, result: done(false) };
}

/** `NotRecoverable` becomes `not-recoverable`: codes of this API are written like that. */
function refusedBy({ reason, message }: GateDecision & { readonly allowed: false }): OperationResult {
  return refused(reason.replaceAll(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase(), message);
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
