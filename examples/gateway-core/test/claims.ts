import { applyActivation, type ActivationEntry } from "slipway/retry";

/** The entry that a supervisor writes to claim an instance that nobody claimed. */
export function claimOf(claim: string, at: number): ActivationEntry {
  const step = applyActivation(null, { type: "claim", claim }, at);
  if (!step.applied) throw new Error(`an instance without an entry cannot be claimed: ${step.why}`);
  return step.next;
}
