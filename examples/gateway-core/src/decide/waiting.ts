import { PREPARATION } from "../gateway/budgets.js";
import type { SandboxRecord } from "../record/record.js";
import { applyToDeadline } from "./decision.js";

/**
 * The record with its budget standing still while the driver waits for somebody else's work, or running again. The wait
 * is on nobody's budget; the ceiling of preparation runs on, with room for it, and bounds it. Only preparation waits: what a driver says
 * late takes nothing from admission.
 */
export function withWaiting(record: SandboxRecord, waits: boolean, now: number): SandboxRecord {
  const { deadline } = record;
  if (deadline?.status !== "active" || (deadline.pausedAt !== null) === waits) return record;
  if (waits && deadline.phase !== PREPARATION) return record;
  const { attempt, pauseSeq } = deadline;
  const event = { type: waits ? "pause" : "resume", attempt, seq: (pauseSeq ?? 0) + 1 } as const;
  return applyToDeadline(record, event, now).record;
}
