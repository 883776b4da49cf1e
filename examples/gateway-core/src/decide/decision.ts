import {
  applyDeadlineEvent,
  deadlineConditions,
  setCondition,
  type Condition,
  type ConditionUpdate,
  type DeadlineEvent,
  type DeadlineOutcome,
  type DeadlineState,
} from "slipway";
import { isComingUp, type Phase } from "../record/phase.js";
import type { SandboxRecord } from "../record/record.js";
import { withBootstrapOver } from "./bootstrapped.js";

/**
 * What a rule made of a record: the record to write, or the very same object when there is nothing to write, and an
 * answer for whoever asked. Rules are pure; the commit loop calls them again when somebody else wrote first.
 */
export interface Decision<Result> {
  readonly record: SandboxRecord;
  readonly result: Result;
}

export type Rule<Result> = (record: SandboxRecord, now: number) => Decision<Result>;

/** Puts one event through the deadline's door and carries what it found over into the record. */
export function applyToDeadline(
  record: SandboxRecord,
  event: DeadlineEvent,
  now: number,
): { readonly record: SandboxRecord; readonly outcome: DeadlineOutcome } {
  const { deadline } = record;
  if (deadline === null) return { record, outcome: { applied: false, why: "settled", changed: false } };
  const { state, outcome } = applyDeadlineEvent(deadline, event, now);
  if (!outcome.changed) return { record, outcome };
  let next: SandboxRecord = { ...record, deadline: state };
  if (deadline.status === "active" && state.status === "expired" && state.expiry !== null) {
    next = withPhase({ ...next, lease: null, finishedAt: now }, "Error", state.expiry, now);
  }
  // What was settled before has said what it had to say: its cleanup is no news about readiness.
  const stated = deadline.status === "active" ? deadlineConditions(state, now) : [];
  for (const found of stated) {
    const condition = withRejection(found, state);
    const waiting = isComingUp(next.phase) ? withPhase(next, next.phase, condition, now) : next;
    next = withCondition(waiting, condition, now);
  }
  if (deadline.status === "active" && state.status !== "active") next = withBootstrapOver(next, now);
  return { record: next, outcome };
}

/** While a rejected configuration waits for its repair, what is under way is told by what is wrong with it. */
function withRejection(condition: Condition, { status, rejection }: DeadlineState): Condition {
  if (status !== "active" || rejection === null) return condition;
  const why = [rejection.reason, rejection.message].filter((text) => text !== null);
  const message = [`configuration generation ${rejection.generation} was rejected`, ...why].join(": ");
  return { ...condition, message };
}

/** The record as time alone has made it. Every rule starts here, so that late news meets the expiry first. */
export function observeTime(record: SandboxRecord, now: number): SandboxRecord {
  return applyToDeadline(withoutLostWait(record, now), { type: "tick" }, now).record;
}

/**
 * A wait for somebody else's work ends when the lease of the launch that waits is found lapsed: whoever would have said
 * that it is over may be gone, and a pause that nobody holds would hide a stall up to the ceiling.
 */
function withoutLostWait(record: SandboxRecord, now: number): SandboxRecord {
  const { deadline, lease } = record;
  if (deadline?.status !== "active" || deadline.pausedAt === null) return record;
  if (lease === null || lease.until > now) return record;
  const { attempt, pauseSeq } = deadline;
  const event = { type: "resume", attempt, seq: (pauseSeq ?? 0) + 1 } as const;
  return applyToDeadline(record, event, now).record;
}

export interface PhaseReason {
  readonly reason: string;
  readonly message: string;
}

/** The record in a phase, with the Ready condition that goes with it. */
export function withPhase(
  record: SandboxRecord,
  phase: Phase,
  { reason, message }: PhaseReason,
  now: number,
): SandboxRecord {
  const since = record.phase === phase ? record.since : now;
  const updatedAt = record.phase === phase ? record.updatedAt : now;
  const next = { ...record, phase, since, updatedAt, reason, message };
  const status = phase === "Ready" ? "True" : "False";
  return withCondition(next, { type: "Ready", status, reason, message }, now);
}

export function withCondition(record: SandboxRecord, condition: ConditionUpdate, now: number): SandboxRecord {
  const conditions = setCondition(record.conditions, condition, now);
  return conditions === record.conditions ? record : { ...record, conditions };
}
