import type { DeadlineEvent } from "./event.js";
import type { DeadlineState } from "./state.js";

/**
 * Makes an event when it is decided, so that what it leaves out is filled in from the state it meets.
 *
 * @internal
 */
export type EventMaker = (state: DeadlineState) => DeadlineEvent;

/** @internal */
export const tick: EventMaker = () => ({ type: "tick" });
