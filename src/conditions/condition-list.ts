import { SlipwayError } from "../errors.js";
import type { Condition, ConditionUpdate } from "./condition.js";
import { speakerOf } from "./condition-order.js";
import { sanitizeUpdate } from "./condition-shape.js";
import { defined, restates, unlessSame } from "./same-value.js";
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
  let speaking: Condition | undefined;
  for (const condition of list) if (hasType(condition, type)) speaking = speakerOf(speaking, condition);
  return speaking;
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
  const { type } = next;
  let stored: Condition | undefined;
  let count = 0;
  // By index: an iterator costs as much as the rest.
  for (let at = 0; at < list.length; at++) {
    const condition = list[at];
    // A peer's list may hold anything.
    if (condition?.type !== type) continue;
    stored = condition;
    count += 1;
  }
  return count === 1 && stored && restates(stored, next) && acceptable.has(stored)
    ? list
    : restate(list, next, now);
}

/**
 * Conditions that an acceptable update restated, so that every field of theirs is acceptable. What says the same as one
 * of them is too, and needs no looking at.
 */
const acceptable = new WeakSet<Condition>();

function restate(list: readonly Condition[], next: ConditionUpdate, now: number): readonly Condition[] {
  const update = sanitizeUpdate(next);
  const type = update.type;
  if (!type) {
    throw new SlipwayError("INVALID_CONDITION", "Invalid type", {
      field: "type",
      value: next.type,
    });
  }
  const stored = getCondition(list, type);
  if (stored && withoutType(list, type).length + 1 === list.length && restates(stored, update)) {
    acceptable.add(stored);
    return list;
  }
  const stated: Condition = defined({
    ...stored,
    ...update,
    lastTransitionTime:
      keptTime(stored, update) ?? readTime(update.lastTransitionTime) ?? transitionTime(now),
  });
  // Where the first of its type stood, or else last.
  const left = [stated];
  return [...list.flatMap((condition) => (hasType(condition, type) ? left.splice(0) : [condition])), ...left];
}

/**
 * The list without the condition of a type; the very same array when there was none.
 *
 * @public
 */
export function removeCondition(list: readonly Condition[], type: string): readonly Condition[] {
  return unlessSame(withoutType(list, type), list);
}

function withoutType(list: readonly Condition[], type: string): Condition[] {
  return list.filter((condition) => !hasType(condition, type));
}

function hasType(condition: Condition | undefined, type: string): boolean {
  return condition?.type === type;
}
