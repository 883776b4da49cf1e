import { applyBackendMismatch, stateIsolationMismatch } from "slipway";
import { PREPARATION } from "../gateway/budgets.js";
import type { SandboxRecord } from "../record/record.js";
import { phaseFacts, withFacts } from "./phase-facts.js";

const ADVICE = "restore the gateway's selection of its isolation backend, or create a new sandbox";

/** Whether a sandbox may run on what is selected; `null` for one that is pinned to nothing. */
export function backendMatches(record: SandboxRecord, selected: string | null): boolean | null {
  return record.isolationBackend === null ? null : record.isolationBackend === selected;
}

/** A start that cannot succeed, told once: the record leaves the restart scan by leaving `Starting`. */
export function recordMismatch(record: SandboxRecord, now: number): SandboxRecord {
  const { record: facts, changed } = applyBackendMismatch(phaseFacts(record), now);
  return changed ? withFacts(record, facts, now) : record;
}

/**
 * An attempt that expired in its preparation while another isolation backend was selected: the mismatch is what was
 * wrong, and a case of the timeout. Anything else is returned as it is.
 */
export function explainExpiry(
  before: SandboxRecord,
  after: SandboxRecord,
  selected: string | null,
  now: number,
): SandboxRecord {
  const expiry = after.deadline?.expiry ?? null;
  const news = expiry !== null && before.deadline?.status === "active" && after.phase === "Error";
  if (!news || expiry.phase !== PREPARATION || backendMatches(after, selected) !== false) return after;
  const message = `${after.message}; the sandbox is pinned to ${after.isolationBackend}: ${ADVICE}`;
  const conditions = stateIsolationMismatch(after.conditions, { now, timedOut: true, message });
  return { ...after, reason: "IsolationBackendMismatch", message, conditions };
}
