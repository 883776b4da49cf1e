import type { DeadlineOutcome, DeadlineStep, RefusalReason, Refused } from "./outcome.js";
import type { DeadlineState } from "./state.js";

/** A state and what became of an event. */
export type Step = DeadlineStep<DeadlineState>;

/** For whoever refuses duplicates by the thousand. @internal */
export const DUPLICATE: Refused = Object.freeze({ applied: false, why: "duplicate", changed: false });

/** @internal */
export function refused(state: DeadlineState, why: RefusalReason): Step {
  return { state, outcome: { applied: false, why, changed: false } };
}

/** Refuses an event whose arrival found the expiry: the state is to be written all the same. @internal */
export function refusedChanged(state: DeadlineState, why: RefusalReason): Step {
  return { state, outcome: { applied: false, why, changed: true } };
}

/** @internal */
export const CHANGED: DeadlineOutcome = Object.freeze({ applied: true, changed: true });
const SEEN: DeadlineOutcome = Object.freeze({ applied: true, changed: false });

/** @internal */
export function accepted(state: DeadlineState, outcome: DeadlineOutcome = CHANGED): Step {
  return { state, outcome };
}

/** An event that took effect without anything to write. @internal */
export function acceptedUnchanged(state: DeadlineState): Step {
  return { state, outcome: SEEN };
}
