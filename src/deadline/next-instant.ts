import { deadlineAt } from "./bounds.js";
import type { DeadlineState } from "./state.js";

/**
 * When an active attempt is to be looked at, whoever reports meanwhile: at its deadline, and where the passing of time
 * is recorded when that is due. `Infinity` when never.
 *
 * @internal
 */
export function nextInstant(state: DeadlineState, observes: boolean): number {
  const deadline = deadlineAt(state);
  return observes ? Math.min(deadline, state.observedAt + state.plan.observeEveryMs + 1) : deadline;
}
