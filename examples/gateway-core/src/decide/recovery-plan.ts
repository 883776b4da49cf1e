import {
  acceptOperation,
  applyRecovery,
  planRecovery,
  planShutdown,
  type Observation,
  type PhasePolicy,
  type RecoveryResult,
} from "slipway";
import type { SandboxRecord } from "../record/record.js";
import { applyToDeadline, observeTime, type Decision } from "./decision.js";
import { relaunch } from "./driver-report.js";
import { phaseFacts, withFacts } from "./phase-facts.js";
import { isLaunchOutstanding, isOfBefore } from "./seen.js";

/** What a sweep at start-up or shutdown knows. */
export interface SweepContext {
  /** Whether this gateway stops what runs when it ends, and starts it again when it is back. */
  readonly managesLifecycle: boolean;
  /** A look at the backend; `null` when none was made, or it failed. */
  readonly observation: Observation | null;
  /** The run that was looked at: what was seen says nothing of one that another gateway has begun since. */
  readonly run?: number | undefined;
  /** The record as it was before the look began: what was seen says nothing of a start or a stop that came since. */
  readonly looked?: Pick<SandboxRecord, "instance" | "shutdownStopAt"> | undefined;
  readonly policy: PhasePolicy;
}

/** What is to be done about one record; the record is the same object when a look has not changed it. */
export interface GatewaySweepPlan {
  readonly call: "start" | "stop" | null;
  readonly record: SandboxRecord;
}

/** What a gateway that comes up does about a record, before it watches and sweeps. */
export function planStartUp(record: SandboxRecord, context: SweepContext, now: number): GatewaySweepPlan {
  const plan = planRecovery(phaseFacts(record), { ...context, now });
  return { call: plan.call, record: plan.changed ? withFacts(record, plan.record, now) : record };
}

/** The record after the call that a start-up asked for. */
export function finishStartUp(
  record: SandboxRecord,
  call: "start" | "stop",
  result: RecoveryResult,
  context: SweepContext,
  now: number,
): SandboxRecord {
  const { record: facts, changed } = applyRecovery(phaseFacts(record), call, result, { ...context, now });
  return changed ? withFacts(record, facts, now) : record;
}

/**
 * What a gateway that ends does about a record: phase and intent stay, and the record says that its run is stopped. To be
 * written before the stop.
 */
export function planEnd(record: SandboxRecord, context: SweepContext, now: number): Decision<"stop" | null> {
  const { call, record: facts } = planShutdown(phaseFacts(record), { ...context, now });
  if (call !== "stop") return { record, result: null };
  return { record: { ...record, shutdownStopAt: facts.shutdownStopAt ?? null }, result: "stop" };
}

/** The record without what the end of a gateway said of its run: it failed to stop it, or that run is not the latest. */
export function withoutEnd(record: SandboxRecord): SandboxRecord {
  return record.shutdownStopAt === null ? record : { ...record, shutdownStopAt: null };
}

/** Whether a gateway that comes up has to find out what became of a record while none was there. */
export function isOwed(record: SandboxRecord, context: SweepContext, now: number): boolean {
  return record.shutdownStopAt !== null || recoverAtStartUp(record, context, now).result === "wait";
}

/**
 * One record at start-up, with what its backend shows. `wait` asks for another look: nothing was learnt.
 *
 * A start whose workload runs has been made. Where nothing runs, a start that was under way goes on within its
 * attempt, and what was ready gets a new attempt over the same identity and workspace: what the end of a gateway stopped,
 * or what is at rest. A run that ended in another way is a lost one, and the worker settles it: its main process may have
 * done its work, which is not done a second time.
 */
export function recoverAtStartUp(
  found: SandboxRecord,
  context: SweepContext,
  now: number,
): Decision<"done" | "wait"> {
  const record = observeTime(found, now);
  // The worker launches, stops, cleans up and removes by the record alone.
  if (isLaunchOutstanding(record) || record.restartAt !== null)
    return { record: withoutEnd(record), result: "done" };
  const observation = evidenceOf(record, context);
  const plan = planStartUp(record, { ...context, observation: null }, now);
  if (plan.call !== "start") return { record: withoutEnd(plan.record), result: "done" };
  if (observation === null || (observation.exists !== false && observation.running === null))
    return { record, result: "wait" };
  if (observation.running === true && !observation.stale)
    return { record: finishStartUp(record, "start", "ok", context, now), result: "done" };
  if (record.deadline?.status === "active" && record.activatedRun === null)
    return {
      record: relaunch(withoutEnd(record), "the gateway came up and nothing ran", now),
      result: "done",
    };
  if (!context.managesLifecycle) return { record: withoutEnd(record), result: "done" };
  if (observation.exists === false)
    return { record: finishStartUp(record, "start", "not-found", context, now), result: "done" };
  if (planStartUp(record, { ...context, observation }, now).call !== "start")
    return { record: withoutEnd(record), result: "done" };
  return { record: startAnew(record, now), result: "done" };
}

/** What was seen, as far as it says something of the record as it is by now. */
function evidenceOf(record: SandboxRecord, { looked, observation, run }: SweepContext): Observation | null {
  if (observation === null || record.run !== run) return null;
  const launchedAt = looked === undefined ? undefined : (looked.instance?.launchedAt ?? null);
  if (isOfBefore(record, { observation, launchedAt })) return null;
  const isMarkedSince = looked !== undefined && looked.shutdownStopAt !== record.shutdownStopAt;
  return isMarkedSince ? null : observation;
}

/** Accepted as a start of its own, which begins when nothing is in its way. */
function startAnew(record: SandboxRecord, now: number): SandboxRecord {
  const attempt = record.deadline?.attempt ?? "";
  const reason = "the gateway came up and nothing ran";
  const ended = applyToDeadline(record, { type: "cancel", attempt, reason }, now).record;
  const gate = { allowed: true, route: "restart", rule: "recovery" } as const;
  const { record: facts } = acceptOperation(phaseFacts(ended), "start", gate, { now });
  const accepted = withFacts(ended, { ...facts, message: "started again when the gateway came up" }, now);
  return { ...accepted, instance: null, activatedRun: null, restartAt: now };
}
