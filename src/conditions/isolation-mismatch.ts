import type { Condition } from "./condition.js";
import { getCondition, setCondition } from "./condition-list.js";
import type { KnownReason } from "./sandbox/reasons.js";

// Words instead of the list of all reasons, which nobody should load for two of them.
const MISMATCH: KnownReason = "IsolationBackendMismatch";
const TIMEOUT: KnownReason = "ImagePreparationTimedOut";
const MATCHES: KnownReason = "IsolationBackendMatches";

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
  /** Generation that was looked at. Absent makes no claim. */
  readonly observedGeneration?: number | undefined;
}

/**
 * A finding that the gateway selects a sandbox's pinned isolation backend (again).
 *
 * @public
 */
export interface IsolationMatch {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Tells a match from a mismatch. */
  readonly cleared: true;
  /** For people. Default: empty. */
  readonly message?: string | undefined;
  /** Generation that was looked at. Absent makes no claim. */
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
 * With `cleared: true` a mismatch that the list tells of is over: `IsolationBackendMatched=True`. `Ready` stays with
 * whoever decides it, and a list that tells of no mismatch stays as it is.
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
  finding: IsolationMismatch | IsolationMatch,
): readonly Condition[] {
  const { now, message = "", observedGeneration } = finding;
  const type = "IsolationBackendMatched";
  const stated = { type, status: "False", reason: MISMATCH, message, observedGeneration } as const;
  if ("cleared" in finding) {
    return getCondition(list, type)
      ? setCondition(list, { ...stated, status: "True", reason: MATCHES }, now)
      : list;
  }
  const general = finding.timedOut && { generalReasons: [TIMEOUT] };
  return setCondition(setCondition(list, { ...stated, ...general, type: "Ready" }, now), stated, now);
}
