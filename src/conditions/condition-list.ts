import type { Condition, ConditionUpdate } from "./condition.js";
import { transitionTime } from "./transition-time.js";

/**
 * The condition of a type, or `undefined`.
 *
 * @public
 */
export function getCondition(list: readonly Condition[], type: string): Condition | undefined {
  return list.find((condition) => condition.type === type);
}

/**
 * Whether the condition of a type is `True`. An absent condition reads as Unknown, so this is `false` then.
 *
 * @public
 */
export function conditionIsTrue(list: readonly Condition[], type: string): boolean {
  return getCondition(list, type)?.status === "True";
}

/**
 * The list with one condition stated anew, keyed by type.
 *
 * The transition time moves when the status changes and only then, whatever else changed. When nothing changed the
 * very same array comes back, so that a writer can skip the write by comparing references.
 *
 * @param now - Epoch milliseconds, used where the status changed and `next` brings no time of its own.
 *
 * @example
 * ```ts
 * import { setCondition } from "slipway/conditions";
 *
 * const list = setCondition([], { type: "Ready", status: "False", reason: "Starting", message: "" }, Date.now());
 * setCondition(list, { type: "Ready", status: "False", reason: "Starting", message: "" }, Date.now()) === list; // => true
 * ```
 *
 * @public
 */
export function setCondition(
  list: readonly Condition[],
  next: ConditionUpdate,
  now: number,
): readonly Condition[] {
  const index = list.findIndex((condition) => condition.type === next.type);
  const previous = list[index];
  if (previous === undefined) return [...list, stamp(next, next.lastTransitionTime ?? transitionTime(now))];
  const time =
    previous.status === next.status
      ? previous.lastTransitionTime
      : (next.lastTransitionTime ?? transitionTime(now));
  const stamped = stamp(next, time);
  return sameCondition(previous, stamped) ? list : list.with(index, stamped);
}

/**
 * The list without the condition of a type; the very same array when there was none.
 *
 * @public
 */
export function removeCondition(list: readonly Condition[], type: string): readonly Condition[] {
  const kept = list.filter((condition) => condition.type !== type);
  return kept.length === list.length ? list : kept;
}

function stamp(update: ConditionUpdate, lastTransitionTime: string): Condition {
  return { ...update, lastTransitionTime };
}

function sameCondition(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.lastTransitionTime === b.lastTransitionTime &&
    a.observedGeneration === b.observedGeneration &&
    a.cause?.reason === b.cause?.reason &&
    a.cause?.message === b.cause?.message &&
    sameReasons(a.generalReasons ?? [], b.generalReasons ?? [])
  );
}

function sameReasons(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((reason, index) => reason === b[index]);
}
