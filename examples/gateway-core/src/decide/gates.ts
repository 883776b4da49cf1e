import {
  allowedOperations,
  type AllowedOperations,
  type Observation,
  type PhasePolicy,
  type SandboxRecord as PhaseRecord,
} from "slipway";
import type { SandboxRecord } from "../record/record.js";
import { phaseFacts } from "./phase-facts.js";

/** What this process knows of a sandbox beside its record. */
export interface Surroundings {
  /** The latest look at its backend, `null` when there was none or it failed. */
  readonly observation: Observation | null;
  /** Whether the isolation backend that it is pinned to is the one selected, `null` without a pin. */
  readonly backendMatches: boolean | null;
  readonly policy: PhasePolicy;
}

/** What may be done with a sandbox now, by whom. */
export function gatesOf(
  record: SandboxRecord,
  { observation, backendMatches, policy }: Surroundings,
  by: "user" | "automatic",
  now: number,
): AllowedOperations {
  const facts = phaseFacts(record);
  return allowedOperations({
    record: facts,
    observation,
    backendMatches,
    by,
    now,
    policy: by === "user" ? userPolicy(record, facts, observation, policy) : policy,
  });
}

/**
 * An error leaves open whether anything still executes, and a stop settles that. Here it is settled as well when the
 * attempt was cleaned up, or the backend shows that nothing executes: then a user may start at once.
 */
function userPolicy(
  record: SandboxRecord,
  { reason }: PhaseRecord,
  observation: Observation | null,
  policy: PhasePolicy,
): PhasePolicy {
  if (record.phase !== "Error" || typeof reason !== "string") return policy;
  const cleaned = record.deadline?.cleanup.status === "done";
  const nothingRuns = observation?.running === false && !observation.stale;
  if (!cleaned && !nothingRuns) return policy;
  return { ...policy, recoverable: [...(policy.recoverable ?? []), reason] };
}
