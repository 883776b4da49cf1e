import { acceptOperation, exponentialBackoff } from "slipway";
import type { SandboxRecord } from "../record/record.js";
import { beginAttempt, type AttemptStart } from "./attempt.js";
import { observeTime, withPhase, type Decision } from "./decision.js";
import { gatesOf, type Surroundings } from "./gates.js";
import { recordMismatch } from "./isolation.js";
import { phaseFacts, withFacts } from "./phase-facts.js";

/** A run that lasted so long begins the count of restarts anew. */
const STABLE_MS = 10_000;

/** The first restart comes at once, the second after a second, and so on up to three minutes. */
const backoff = exponentialBackoff({ initialMs: 1000, factor: 2, capMs: 180_000, jitter: "none" });

/** Whether a result is one that the policy has restarted, and nothing stands in its way. */
export function mayRestart(record: SandboxRecord, around: Surroundings, now: number): boolean {
  if (record.phase !== "Error" || record.desired !== "running" || record.startPending) return false;
  const gate = gatesOf(record, around, "automatic", now).start;
  return gate.allowed && gate.route === "restart";
}

/** Puts a record whose result is recoverable on the restart scan. */
export function scheduleRestart(found: SandboxRecord, around: Surroundings, now: number): Decision<boolean> {
  const record = observeTime(found, now);
  if (!mayRestart(record, around, now)) return { record, result: false };
  const restarts = ranLong(record) ? 1 : record.restarts + 1;
  const wait = restarts === 1 ? 0 : backoff.delayMs(restarts - 1);
  const gate = gatesOf(record, around, "automatic", now).start;
  const { record: facts } = acceptOperation(phaseFacts(record), "start", gate, { now });
  const accepted = withFacts(record, facts, now);
  const reason = wait === 0 ? "MainProcessRestartScheduled" : "MainProcessRestartBackoff";
  const message = `restart ${restarts} after ${record.reason}${wait === 0 ? "" : `, in ${wait} ms`}`;
  const waiting = withPhase(accepted, "Starting", { reason, message }, now);
  return {
    record: { ...waiting, instance: null, activatedRun: null, restarts, restartAt: now + wait },
    result: true,
  };
}

/** Begins a restart whose time has come, or finds that it cannot succeed. */
export function beginRestart(
  found: SandboxRecord,
  start: AttemptStart,
  around: Surroundings,
  now: number,
): Decision<"begun" | "mismatch" | "not-due"> {
  const record = observeTime(found, now);
  if (record.restartAt === null || now < record.restartAt) return { record, result: "not-due" };
  if (around.backendMatches === false) return { record: recordMismatch(record, now), result: "mismatch" };
  const begun = beginAttempt({ ...record, restartAt: null }, start, now);
  return begun.result.begun ? { record: begun.record, result: "begun" } : { record, result: "not-due" };
}

function ranLong({ deadline, finishedAt }: SandboxRecord): boolean {
  const readyAt = deadline?.completedAt ?? null;
  return readyAt !== null && finishedAt !== null && finishedAt - readyAt >= STABLE_MS;
}
