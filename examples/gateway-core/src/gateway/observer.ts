import type { ReconcileOutcome } from "slipway";
import type { SandboxRecord } from "../record/record.js";

/** Failures of bootstrap attempts by what they meant for the next one. */
export const FAILURE_CLASSES = ["transient", "suspect", "permanent", "cancelled"] as const;

export type FailureCounts = Readonly<Partial<Record<(typeof FAILURE_CLASSES)[number], number>>>;

/** Told of what a gateway did, after it did it: for counting. It decides nothing, and must not throw. */
export interface GatewayObserver {
  /** A record was found at the start, or written by any gateway. `null`: it was removed. */
  heard(id: string, record: SandboxRecord | null): void;
  /** A write of this gateway took place. `null`: there was nothing before. */
  written(before: SandboxRecord | null, after: SandboxRecord): void;
  /** A reconciler came to an end with one sandbox. Those that were left as they are, are not told of. */
  reconciled(outcome: ReconcileOutcome["outcome"]): void;
  /** Attempts of a supervisor failed since it last said so. */
  bootstrapFailed(counts: FailureCounts): void;
}
