import type { Condition, ConditionCause, ConditionStatus } from "./condition.js";
import { isGeneration } from "./condition-shape.js";
import { getCondition } from "./condition-list.js";
import { asText, textOf } from "./same-value.js";

/**
 * How {@link summarize} reads a list.
 *
 * @public
 */
export interface SummarizeOptions {
  /**
   * The condition that speaks for the whole.
   *
   * @defaultValue "Ready"
   */
  readonly type?: string | undefined;
  /** The current generation of the object; a condition about an older one is marked stale. */
  readonly generation?: number | undefined;
}

/**
 * One object's conditions in a line.
 *
 * @public
 */
export interface ConditionSummary {
  /** The condition that was asked about. */
  readonly type: string;
  /** `Unknown` when the condition is absent. */
  readonly status: ConditionStatus;
  /** Its reason; `NotYetReported` when the condition is absent. */
  readonly reason: string;
  /** Its message; empty when the condition is absent. */
  readonly message: string;
  /** The finding behind the reason. Absent: none is stated. */
  readonly cause?: ConditionCause | undefined;
  /** Whether the condition speaks about an older generation. Stale is not false. */
  readonly stale: boolean;
  /** All of it for people, for instance `Ready=False Starting: waiting for the supervisor`. */
  readonly text: string;
}

/**
 * Sums up the conditions of one object. An absent condition reads as `Unknown` with the reason `NotYetReported`.
 *
 * @example
 * ```ts
 * import { summarize } from "slipway/conditions";
 *
 * summarize([]).text; // => "Ready=Unknown NotYetReported"
 * ```
 *
 * @public
 */
export function summarize(list: readonly Condition[], options: SummarizeOptions = {}): ConditionSummary {
  const { type = "Ready", generation = 0 } = options;
  const { observedGeneration, cause, ...words } = getCondition(list, type) ?? NOT_REPORTED;
  const status = (textOf(words.status) ?? "Unknown") as ConditionStatus;
  // A Pod's conditions have neither reason nor message where there is nothing to say.
  const [reason, message, because] = [asText(words.reason), asText(words.message), asText(cause?.reason)];
  const what = `${type}=${status} ${reason}${because && ` (${because})`}`.trimEnd();
  return {
    type,
    status,
    reason,
    message,
    ...(cause && { cause }),
    stale: isGeneration(observedGeneration) && (observedGeneration ?? generation) < generation,
    text: message === "" ? what : `${what}: ${message}`,
  };
}

const NOT_REPORTED: Partial<Condition> = { reason: "NotYetReported" };
