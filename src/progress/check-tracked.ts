import { checkDecoded } from "../deadline/decoded.js";
import { checkInstant } from "../deadline/instant.js";
import type { TrackerState } from "./state.js";

/**
 * Refuses a state that was never decoded, and an instant that is none.
 *
 * @throws {@link SlipwayError} `INVALID_STATE` or `INVALID_INSTANT` naming the field and the value.
 *
 * @internal
 */
export function checkTracked(state: TrackerState, now: number): void {
  checkDecoded("tracker state", state);
  checkInstant("now", now);
}
