import type { PhaseDecision } from "./derive-phase.js";
import type { SandboxRecord } from "./record.js";

/**
 * What one look at one sandbox led to.
 *
 * - `conflict`: somebody wrote in the meantime. Theirs stands; the next pass decides again.
 * - `mismatch`: the isolation backend does not match, and the record says so now.
 * - `failed`: the store threw, in a sweep that went on with the others; `error` says what.
 *
 * @public
 */
export interface ReconcileOutcome {
  /** The sandbox. */
  readonly id: string;
  /** What was done. */
  readonly outcome: "unchanged" | "written" | "removed" | "conflict" | "mismatch" | "no-record" | "failed";
  /** The record as it is stored now; `null` where it is not known or gone. */
  readonly record: SandboxRecord | null;
  /** What was decided about the phase; `null` where it did not come to that. */
  readonly decision: PhaseDecision | null;
  /** What the store threw, on `failed`. */
  readonly error?: unknown;
}

/**
 * What a sweep did.
 *
 * @public
 */
export interface SweepReport {
  /** Records that were looked at. */
  readonly seen: number;
  /** Everything that was not left unchanged. */
  readonly outcomes: readonly ReconcileOutcome[];
  /** The backend was listed to its end. Nothing is pruned otherwise. */
  readonly complete: boolean;
  /** What listing the backend failed with. */
  readonly error: unknown;
}
