import { setCondition } from "../conditions/index.js";
import { isMarked } from "./evidence.js";
import type { Phase } from "./phase.js";
import type { SandboxRecord } from "./record.js";

/**
 * What an event did to a record.
 *
 * @public
 */
export interface Transition {
  /** The very same object as before when nothing changed. */
  readonly record: SandboxRecord;
  /** Whether there is something to write. */
  readonly changed: boolean;
  /** Why the event was not applied; `null` when it was, or when it says what the record says already. */
  readonly refused: string | null;
}

/**
 * A transition that leaves the record alone.
 *
 * @internal
 */
export function unchanged(record: SandboxRecord, refused: string | null = null): Transition {
  return { record, changed: false, refused };
}

/**
 * The record in a phase, with its Ready condition stated and `since` moved only when the phase does.
 *
 * @internal
 */
export function enter(
  record: SandboxRecord,
  phase: Phase,
  reason: string,
  message: string,
  now: number,
): SandboxRecord {
  const status = phase === "Ready" ? "True" : phase === "Unknown" ? "Unknown" : "False";
  return {
    ...record,
    phase,
    since: phase === record.phase ? record.since : now,
    updatedAt: now,
    reason,
    message,
    conditions: setCondition(record.conditions ?? [], { type: "Ready", status, reason, message }, now),
  };
}

/**
 * The record without the mark of a shutdown, which is of no more use once a gateway is up.
 *
 * @internal
 */
export function unmarked(record: SandboxRecord, now: number): SandboxRecord {
  return isMarked(record) ? { ...record, shutdownStopAt: null, updatedAt: now } : record;
}
