import { type Condition, type ConditionUpdate, isConditionField } from "./condition.js";

/**
 * Whether two JSON values are equal; the order of keys does not count, and an absent field equals `undefined`.
 *
 * @internal
 */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  return Object.keys({ ...a, ...b }).every((key) => sameValue(a[key], b[key]));
}

type Fields = Record<string, unknown>;

/**
 * Whether a value has fields; an array has.
 *
 * @internal
 */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/**
 * Whether a writer's update says nothing that the stored condition does not say already. The time is not compared: it
 * follows from the status. Plain comparisons first, because an unchanged update is the hot path of every writer.
 *
 * @internal
 */
export function restates(stored: Condition, update: ConditionUpdate): boolean {
  return (
    stored.status === update.status &&
    stored.reason === update.reason &&
    stored.message === update.message &&
    (stored.observedGeneration ?? undefined) === (update.observedGeneration ?? undefined) &&
    same(stored.cause, update.cause) &&
    same(stored.generalReasons ?? NONE, update.generalReasons ?? NONE) &&
    same(stored.convertedFrom, update.convertedFrom) &&
    sameForeignFields(stored as object as Fields, update as object as Fields)
  );
}

/** No general reason and none stated are the same claim. */
const NONE: readonly string[] = [];

/** A peer's `null` is an absent field. */
function same(a: unknown, b: unknown): boolean {
  return sameValue(a ?? undefined, b ?? undefined);
}

function sameForeignFields(stored: Fields, update: Fields): boolean {
  for (const field in update) {
    if (!isConditionField(field) && !sameValue(stored[field], update[field])) return false;
  }
  return true;
}
