import { reconcileRecord, resolveFailedOperation, type Observation, type PhasePolicy } from "slipway";
import type { SandboxRecord } from "../record/record.js";
import type { Decision } from "./decision.js";
import { recordSupervisorGone } from "./driver-report.js";
import { phaseFacts, withFacts } from "./phase-facts.js";
import { isLostRun, type Seen } from "./seen.js";

/**
 * What a driver's stop came to, by what the backend shows after it. One whose call failed may have taken effect all
 * the same; one that was refused stays asked for, because the intent is durable, and is asked for again.
 */
export function settleStop(
  record: SandboxRecord,
  ended: {
    /** The run that was stopped: a later one may have begun and be stopping by now. */
    readonly run: number;
    readonly failed: boolean;
    readonly observation: Observation | null;
    readonly policy: PhasePolicy;
  },
  now: number,
): Decision<null> {
  const asked = record.phase === "Stopping" && record.desired === "stopped";
  if (!asked || record.run !== ended.run) return { record, result: null };
  const { failed, observation, policy } = ended;
  const facts = phaseFacts(record);
  const next = failed
    ? resolveFailedOperation(facts, facts, "stop", observation, now, policy)
    : reconcileRecord(facts, observation, null, now, policy);
  const moved = next.changed && next.record.phase !== "Stopping";
  return { record: moved ? withFacts(record, next.record, now) : record, result: null };
}

/** A run that ended by itself, once what it left running was ended as well. */
export function settleLostRun(
  record: SandboxRecord,
  run: number,
  lost: { readonly seen: Seen; readonly policy: PhasePolicy; readonly uncertain: boolean },
  now: number,
): Decision<null> {
  const { seen, policy, uncertain } = lost;
  if (!isLostRun(record, seen)) return { record, result: null };
  const { exitCode, message } = seen.observation;
  const gone = recordSupervisorGone(record, run, now, { uncertain, exitCode, message });
  if (gone.result) return { record: gone.record, result: null };
  const next = reconcileRecord(phaseFacts(record), seen.observation, null, now, policy);
  return { record: next.changed ? withFacts(record, next.record, now) : record, result: null };
}
