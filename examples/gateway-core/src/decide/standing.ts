import { derivePhase, type AllowedOperations, type PhaseDecision, type Session } from "slipway";
import type { SandboxRecord } from "../record/record.js";
import { gatesOf, type Surroundings } from "./gates.js";
import { phaseFacts } from "./phase-facts.js";
import { isStartOutstanding } from "./seen.js";

/** Where a sandbox stands and what may be done with it, explained. */
export interface Standing {
  readonly operations: AllowedOperations;
  /** What the rules make of the record and the latest look: the next reconcile writes it. */
  readonly decision: PhaseDecision;
}

export function standingOf(
  record: SandboxRecord,
  around: Surroundings,
  session: Session | null,
  now: number,
): Standing {
  // Nothing that is there yet is of the run that is about to be started.
  const observation = isStartOutstanding(record) ? null : around.observation;
  return {
    operations: gatesOf(record, around, "user", now),
    decision: derivePhase({ record: phaseFacts(record), observation, session, now, policy: around.policy }),
  };
}
