import { deadlineConditions, startAttempt, type DeadlinePlan, type StartRefusal } from "slipway";
import { digestOf } from "../record/digest.js";
import type { JsonObject } from "../record/json.js";
import type { SandboxRecord, SandboxSpec } from "../record/record.js";
import { withCondition, withPhase, type Decision } from "./decision.js";

/** What an attempt starts with. The token is opaque, minted for this attempt, and a secret. */
export interface AttemptStart {
  readonly plan: DeadlinePlan;
  readonly token: string;
}

export interface NewSandbox {
  readonly id: string;
  readonly name: string;
  readonly spec: SandboxSpec;
  readonly policy: JsonObject;
}

/** A record for a sandbox that was just asked for, with its first attempt under way. */
export function newRecord(sandbox: NewSandbox, start: AttemptStart, now: number): SandboxRecord {
  const blank: SandboxRecord = {
    schemaVersion: 1,
    id: sandbox.id,
    name: sandbox.name,
    createdAt: now,
    spec: sandbox.spec,
    configuration: {
      generation: 1,
      digest: digestOf(sandbox.policy),
      committedAt: now,
      policy: sandbox.policy,
    },
    desired: "running",
    phase: "Provisioning",
    since: now,
    reason: "",
    message: "",
    conditions: [],
    attemptNumber: 0,
    startPending: false,
    startRequestedAt: null,
    deadline: null,
    admission: null,
    appliedGeneration: 0,
    run: 0,
    launchFailures: 0,
    launchNotBefore: 0,
    lease: null,
    instance: null,
    activatedRun: null,
    steps: [],
    cleanupFailures: 0,
    cleanupNotBefore: 0,
    exitCode: null,
    exitSignal: null,
    finishedAt: null,
  };
  return beginAttempt(blank, start, now).record;
}

/**
 * A new attempt of the same sandbox: new token, new deadline, same identity and workspace. Runs are counted on through
 * all attempts, so that late news of an earlier one's run is never taken for this one's.
 */
export function beginAttempt(
  record: SandboxRecord,
  start: AttemptStart,
  now: number,
): Decision<{ readonly begun: true } | { readonly begun: false; readonly why: StartRefusal }> {
  const { generation, digest, committedAt } = record.configuration;
  const started = startAttempt(start.plan, {
    attempt: start.token,
    now,
    configuration: { generation, digest, committedAt },
    previous: record.deadline,
  });
  if (started.refused !== undefined) return { record, result: { begun: false, why: started.refused } };
  const first = record.attemptNumber === 0;
  let next: SandboxRecord = {
    ...record,
    desired: "running",
    attemptNumber: record.attemptNumber + 1,
    startPending: false,
    startRequestedAt: now,
    deadline: started.state,
    admission: "pending",
    appliedGeneration: 0,
    launchFailures: 0,
    launchNotBefore: now,
    lease: null,
    instance: null,
    activatedRun: null,
    steps: [],
    cleanupFailures: 0,
    cleanupNotBefore: 0,
    exitCode: null,
    exitSignal: null,
    finishedAt: null,
  };
  const asked = {
    type: "ConfigurationReady",
    status: "Unknown",
    reason: "ConfigurationPending",
    message: "",
  } as const;
  next = withCondition(next, { ...asked, observedGeneration: generation }, now);
  for (const { reason, message } of deadlineConditions(started.state, now)) {
    next = withPhase(next, first ? "Provisioning" : "Starting", { reason, message }, now);
  }
  return { record: next, result: { begun: true } };
}
