import {
  acceptOperation,
  deadlineConditions,
  startAttempt,
  stateIsolationMismatch,
  type DeadlinePlan,
  type OperationRoute,
  type StartRefusal,
} from "slipway";
import { digestOf } from "../record/digest.js";
import type { JsonObject } from "../record/json.js";
import type { SandboxRecord, SandboxSpec } from "../record/record.js";
import { stepsOf } from "../record/steps.js";
import { withBootstrapPending } from "./bootstrapped.js";
import { withCondition, withPhase, type Decision } from "./decision.js";
import { phaseFacts } from "./phase-facts.js";

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
  /** The isolation backend that is selected now: the sandbox is pinned to it. */
  readonly isolationBackend: string | null;
}

/** A record for a sandbox that was just asked for, with its first attempt under way. */
export function newRecord(sandbox: NewSandbox, start: AttemptStart, now: number): SandboxRecord {
  const blank: SandboxRecord = {
    schemaVersion: 4,
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
    phase: "Stopped",
    since: now,
    updatedAt: now,
    reason: "",
    message: "",
    conditions: [],
    attemptNumber: 0,
    startPending: false,
    startRequestedAt: null,
    previousFinishedAt: null,
    shutdownStopAt: null,
    isolationBackend: sandbox.isolationBackend,
    restarts: 0,
    restartAt: null,
    deadline: null,
    admission: null,
    appliedGeneration: 0,
    run: 0,
    launchFailures: 0,
    launchNotBefore: 0,
    lease: null,
    instance: null,
    activatedRun: null,
    steps: stepsOf(sandbox.spec.image, now),
    cleanupFailures: 0,
    cleanupNotBefore: 0,
    exitCode: null,
    exitSignal: null,
    finishedAt: null,
  };
  return beginAttempt(blank, start, now, "fresh").record;
}

/**
 * A new attempt of the same sandbox: new token, new deadline, same identity and workspace. Runs are counted on through
 * all attempts, so that late news of an earlier one's run is never taken for this one's.
 */
export function beginAttempt(
  record: SandboxRecord,
  start: AttemptStart,
  now: number,
  route: OperationRoute = "resume",
): Decision<{ readonly begun: true } | { readonly begun: false; readonly why: StartRefusal }> {
  const { generation, digest, committedAt } = record.configuration;
  const started = startAttempt(start.plan, {
    attempt: start.token,
    now,
    configuration: { generation, digest, committedAt },
    previous: record.deadline,
  });
  if (started.refused !== undefined) return { record, result: { begun: false, why: started.refused } };
  // Accepted already when it waited for its turn, on the restart scan: what it fences off is fenced off.
  const waited = record.phase === "Starting";
  const gate = { allowed: true, route, rule: "attempt" } as const;
  const facts = waited
    ? phaseFacts(record)
    : acceptOperation(phaseFacts(record), "start", gate, { now }).record;
  let next: SandboxRecord = {
    ...record,
    phase: facts.phase,
    since: facts.since,
    updatedAt: now,
    desired: "running",
    attemptNumber: record.attemptNumber + 1,
    startPending: false,
    startRequestedAt: facts.startRequestedAt ?? now,
    previousFinishedAt: facts.previousFinishedAt ?? null,
    shutdownStopAt: null,
    restartAt: null,
    deadline: started.state,
    admission: "pending",
    appliedGeneration: 0,
    launchFailures: 0,
    launchNotBefore: now,
    lease: null,
    instance: null,
    activatedRun: null,
    steps: stepsOf(record.spec.image, now),
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
  next = withBootstrapPending(next, now);
  for (const { reason, message } of deadlineConditions(started.state, now)) {
    next = withPhase(next, next.phase, { reason, message }, now);
  }
  // Begun at all means that nothing is wrong with the pin any more.
  const conditions = stateIsolationMismatch(next.conditions, { now, cleared: true });
  if (conditions !== next.conditions) next = { ...next, conditions };
  return { record: next, result: { begun: true } };
}
