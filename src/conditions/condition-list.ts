import { SlipwayError } from "../errors.js";
import { type Condition, type ConditionUpdate, isConditionField } from "./condition.js";
import { speakerIndex } from "./condition-order.js";
import { isReason, sanitizeUpdate } from "./condition-shape.js";
import { restates, unlessSame } from "./same-value.js";
import { keptTime, readTime, transitionTime } from "./transition-time.js";

/**
 * The condition of a type, or `undefined`.
 *
 * Where a list holds a type twice, the greater generation speaks, then the later time; never the position. Types are
 * exact strings.
 *
 * @public
 */
export function getCondition(list: readonly Condition[], type: string): Condition | undefined {
  return list[speakerIndex(list, type)];
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
 * The transition time moves when the status changes and only then, whatever else changed (a stored time that is none
 * is replaced with the next change); it is kept, and brought by the writer, in whole seconds. When nothing changed the very same array comes back, so that a writer can skip the
 * write by comparing references. Twins of the type are reduced to the one that speaks. A foreign reason, type or
 * message is made acceptable to Kubernetes instead of refused, and fields that a newer peer added stay.
 *
 * @param now - Epoch milliseconds, used where the status changed and `next` brings no time of its own.
 * @throws SlipwayError `INVALID_CONDITION` - when `next` has no type to be stored under.
 * @throws SlipwayError `INVALID_INSTANT` - when `now` is needed and is not an instant.
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
  let stored: Condition | undefined;
  let twins = false;
  for (const condition of list) {
    // A peer's list may hold anything.
    if ((condition as Condition | undefined)?.type !== next.type) continue;
    twins = stored !== undefined;
    stored = condition;
  }
  if (stored && !twins && isReason(next.reason) && restates(stored, next)) return list;
  return restate(list, next, now);
}

function restate(list: readonly Condition[], next: ConditionUpdate, now: number): readonly Condition[] {
  const update = sanitizeUpdate(next);
  const { type } = update;
  if (type === "") {
    throw new SlipwayError("INVALID_CONDITION", "Invalid condition: no type", {
      field: "type",
      value: next.type,
    });
  }
  const index = speakerIndex(list, type);
  const stored = list[index];
  const alone = list.every((condition, at) => at === index || !hasType(condition, type));
  if (stored && alone && restates(stored, update)) return list;
  const stated: Condition = {
    ...Object.fromEntries(Object.entries(stored ?? {}).filter(([field]) => !isConditionField(field))),
    ...update,
    lastTransitionTime:
      (stored && keptTime(stored, update)) ?? readTime(update.lastTransitionTime) ?? transitionTime(now),
  };
  if (!stored) return [...list, stated];
  return list.flatMap((condition, at) =>
    at === index ? [stated] : hasType(condition, type) ? [] : [condition],
  );
}

/**
 * The list without the condition of a type; the very same array when there was none.
 *
 * @public
 */
export function removeCondition(list: readonly Condition[], type: string): readonly Condition[] {
  return unlessSame(
    list.filter((condition) => !hasType(condition, type)),
    list,
  );
}

function hasType(condition: Condition | undefined, type: string): boolean {
  return condition?.type === type;
}
