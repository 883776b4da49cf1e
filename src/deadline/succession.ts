import type { DeadlineEvent } from "./event.js";
import type { DeadlineState } from "./state.js";

/**
 * A state that took the place of another, to be announced.
 *
 * @internal
 */
export interface Succession {
  readonly before: DeadlineState;
  readonly next: DeadlineState;
  /** What brought it; `undefined` where another writer did. */
  readonly event: DeadlineEvent | undefined;
  /** Whether it is held back for a while, as progress is. */
  readonly held: boolean;
  readonly now: number;
}
