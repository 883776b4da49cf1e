import { invalid } from "../errors.js";
import { checkDecoded } from "./decoded.js";
import type { DeadlineState } from "./state.js";

const INSTANTS = ["startedAt", "observedAt", "phaseEnteredAt"] as const;
/** Instants, or `null` for none. */
const BOUNDS = ["parentDeadlineAt", "windowEndsAt", "pausedAt", "stallEndsAt"] as const;
const PARTS = ["plan", "marks", "spentRejections", "cleanup"] as const;

/**
 * Refuses a record that nobody decoded, where a part of it is missing or cannot be reckoned with: a deadline that is
 * taken up again by it would never come. What contradicts itself is left to decoding.
 *
 * @throws {@link SlipwayError} `INVALID_STATE` naming the field.
 *
 * @internal
 */
export function checkWhole(state: DeadlineState): void {
  checkDecoded("deadline state", state);
  for (const field of INSTANTS) check(state, field, Number.isFinite(state[field]));
  for (const field of BOUNDS) check(state, field, state[field] === null || Number.isFinite(state[field]));
  for (const field of PARTS) check(state, field, typeof state[field] === "object");
}

function check(state: DeadlineState, field: keyof DeadlineState, isDecoded: boolean): void {
  if (!isDecoded)
    throw invalid("INVALID_STATE", "deadline state", field, "as decodeDeadlineState leaves it", state[field]);
}
