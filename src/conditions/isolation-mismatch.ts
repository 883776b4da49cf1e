import type { Condition } from "./condition.js";
import { setCondition } from "./condition-list.js";
import type { KnownReason } from "./sandbox/reasons.js";

// Words instead of the list of all reasons, which nobody should load for two of them.
const MISMATCH: KnownReason = "IsolationBackendMismatch";
const TIMEOUT: KnownReason = "ImagePreparationTimedOut";

/**
 * A finding that a sandbox's pinned isolation backend is not the one that the gateway selects.
 *
 * @public
 */
export interface IsolationMismatch {
  /** Epoch milliseconds. */
  readonly now: number;
  /**
   * Whether the mismatch was found because the preparation deadline expired. The restart scan finds one without any
   * timeout, and then no contract shows one.
   */
  readonly timedOut: boolean;
  /** What the operator should do. */
  readonly message: string;
  readonly observedGeneration?: number | undefined;
}

/**
 * States an isolation backend mismatch as it should be stored: `Ready=False` with `IsolationBackendMismatch` (a case
 * of `ImagePreparationTimedOut` when it was found at the preparation deadline) and beside it
 * `IsolationBackendMatched=False`, which every contract shows.
 *
 * `convertConditions` then gives readers of contract 1 the timeout with the mismatch as its cause. A `Ready` that says
 * the same in that older form, as a deadline publishes it, is replaced; its transition time stays.
 *
 * @returns The very same array when it says all this already.
 *
 * @example
 * ```ts
 * import { stateIsolationMismatch } from "slipway/conditions";
 *
 * const list = stateIsolationMismatch([], { now: Date.now(), timedOut: true, message: "restore the gateway selection" });
 * list[0]?.reason; // => "IsolationBackendMismatch"
 * list[0]?.generalReasons; // => ["ImagePreparationTimedOut"]
 * ```
 *
 * @public
 */
export function stateIsolationMismatch(
  list: readonly Condition[],
  mismatch: IsolationMismatch,
): readonly Condition[] {
  const { now, timedOut, message, observedGeneration } = mismatch;
  const stated = {
    status: "False",
    reason: MISMATCH,
    message,
    ...(observedGeneration !== undefined && { observedGeneration }),
  } as const;
  const general = timedOut ? { generalReasons: [TIMEOUT] } : {};
  const withReady = setCondition(list, { type: "Ready", ...stated, ...general }, now);
  return setCondition(withReady, { type: "IsolationBackendMatched", ...stated }, now);
}
