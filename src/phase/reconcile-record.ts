import { getCondition, setCondition } from "../conditions/index.js";
import { derivePhase, type PhaseDecision } from "./derive-phase.js";
import type { Observation } from "./observation.js";
import type { PhasePolicy, SandboxRecord, Session } from "./record.js";

/**
 * A record after one look at its backend.
 *
 * @public
 */
export interface Reconciled {
  /** The very same object as before when nothing changed. */
  readonly record: SandboxRecord;
  /** Whether there is something to write. */
  readonly changed: boolean;
  /** What was decided, with the rule that decided it. */
  readonly decision: PhaseDecision;
}

const NO_CONDITIONS = Object.freeze([]);

/**
 * The pure step of reconciling: what the record becomes in the light of one observation.
 *
 * Write exactly when `changed`, by compare-and-swap on the version that was read. `since` and the transition time of
 * `Ready` move on a change only, so that an unchanged sweep writes nothing. Intent and identity are never touched.
 *
 * @param observation - `null` when the look-up failed.
 * @param now - Epoch milliseconds.
 *
 * @example
 * ```ts
 * import { observeDockerInspect, reconcileRecord } from "slipway/phase";
 *
 * const record = { phase: "Starting", desired: "running", since: 0 } as const;
 * const observation = observeDockerInspect({ inspect: { State: { Status: "running", Running: true } } });
 * reconcileRecord(record, observation, null, Date.now()).record.phase; // => "Ready"
 * ```
 *
 * @public
 */
export function reconcileRecord(
  record: SandboxRecord,
  observation: Observation | null,
  session: Session | null | undefined,
  now: number,
  policy?: PhasePolicy,
): Reconciled {
  const decision = derivePhase({ record, observation, session, now, policy });
  const held = decision.phase === record.phase && isSettled(decision, record);
  const exit = recordsExit(record, decision, observation);
  if (held && !exit) return { record, changed: false, decision };
  const next = moved(record, decision, exit ? observation : null, now);
  return {
    record: decision.phase === "Ready" ? withRun(next, session) : next,
    changed: true,
    decision,
  };
}

/** Whether the record already says what was decided. A held record does, whatever it says. */
function isSettled(decision: PhaseDecision, record: SandboxRecord): boolean {
  if (isHeld(decision)) return true;
  if (record.reason !== decision.reason || record.conditions === undefined) return false;
  const current = getCondition(record.conditions, "Ready");
  for (const { status, reason, message, cause } of decision.conditions) {
    if (current?.status !== status || current.reason !== reason || current.message !== message) return false;
    // Without a cause of its own the decision says nothing against somebody's finer finding.
    if (cause !== undefined && current.cause?.reason !== cause.reason) return false;
  }
  return true;
}

/** A decision without conditions of its own keeps the record. */
function isHeld({ conditions }: PhaseDecision): boolean {
  return conditions.length === 0;
}

function isFinishing({ phase }: PhaseDecision): boolean {
  return phase === "Error" || phase === "Completed" || phase === "Stopped" || phase === "Stopping";
}

/** The first exit code wins; an end that no rule used (of another run, or behind a live workload) is not recorded. */
function recordsExit(
  record: SandboxRecord,
  decision: PhaseDecision,
  observation: Observation | null,
): observation is Observation {
  return (
    observation?.completed === true &&
    observation.running === false &&
    !observation.stale &&
    isFinishing(decision) &&
    !isHeld(decision) &&
    ((typeof record.exitCode !== "number" && typeof observation.exitCode === "number") ||
      (typeof record.finishedAt !== "number" && typeof observation.finishedAt === "number"))
  );
}

function moved(
  record: SandboxRecord,
  decision: PhaseDecision,
  exit: Observation | null,
  now: number,
): SandboxRecord {
  const phaseMoved = decision.phase !== record.phase;
  let conditions = record.conditions ?? NO_CONDITIONS;
  for (const condition of decision.conditions) conditions = setCondition(conditions, condition, now);
  return {
    ...record,
    phase: decision.phase,
    since: phaseMoved ? now : record.since,
    updatedAt: now,
    reason: decision.reason,
    message: decision.message,
    exitCode: record.exitCode ?? exit?.exitCode ?? null,
    finishedAt: record.finishedAt ?? exit?.finishedAt ?? null,
    conditions,
  };
}

/** A sandbox that is usable has a run without an end: the result of the one before is history. */
function withRun(record: SandboxRecord, session: Session | null | undefined): SandboxRecord {
  return {
    ...record,
    instanceId: session?.instanceId ?? record.expectedInstanceId ?? record.instanceId ?? null,
    expectedInstanceId: null,
    exitCode: null,
    finishedAt: null,
  };
}
