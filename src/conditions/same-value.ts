import type { Condition, ConditionUpdate } from "./condition.js";

/**
 * Whether two JSON values are equal; the order of keys does not count, and a peer's `null` is an absent field.
 *
 * @internal
 */
export function sameValue(a: unknown, b: unknown): boolean {
  // A queue, because a peer may nest deeper than the stack goes. Only circles fill it with a million: these differ.
  const pairs: [unknown, unknown][] = [[a, b]];
  for (const [x, y] of pairs) {
    if ((x ?? null) === (y ?? null)) continue;
    if (!isObject(x) || !isObject(y) || lengthOf(x) !== lengthOf(y) || pairs.length > 1e6) return false;
    for (const key of Object.keys({ ...x, ...y })) pairs.push([ownField(x, key), ownField(y, key)]);
  }
  return true;
}

/** Of a list; an object has none, whatever field it has of that name. */
function lengthOf(value: object): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

/**
 * A field of an object's own: `__proto__` is one for a peer, and nothing that all objects have.
 *
 * @internal
 */
export function ownField<Value>(
  fields: Readonly<Record<string, Value>> | undefined,
  name: unknown,
): Value | undefined {
  return isText(name) && fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/**
 * What a peer sent as an object.
 *
 * @internal
 */
export type Fields = Record<string, unknown>;

/**
 * Whether a value has fields; an array has.
 *
 * @internal
 */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/**
 * Whether a value has fields of names; an array has none.
 *
 * @internal
 */
export function isFields(value: unknown): value is Fields {
  return isObject(value) && !Array.isArray(value);
}

/**
 * Whether a value is a text.
 *
 * @internal
 */
export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/**
 * A text; an empty one for anything else.
 *
 * @internal
 */
export function asText(value: unknown): string {
  return isText(value) ? value : "";
}

/**
 * A word, a number or a truth value as text; `undefined` for an object and for nothing.
 *
 * @internal
 */
export function textOf(value: unknown): string | undefined {
  return isObject(value ?? {}) ? undefined : (value as number).toString();
}

/**
 * A whole number, or the decimal digits of one as protobuf writes an int64; `NaN` for anything else.
 *
 * @internal
 */
export function wholeNumber(value: unknown): number {
  return /^-?\d+$/.test(textOf(value) ?? "") ? Number(value) : NaN;
}

/**
 * The list as it was where nothing differs, so that the caller sees by reference that no write is due.
 *
 * @internal
 */
export function unlessSame<Item>(list: readonly Item[], before: readonly Item[]): readonly Item[] {
  return list.length === before.length && list.every((item, at) => item === before[at]) ? before : list;
}

/**
 * A copy without the fields that are undefined, which would be there for a reader of keys. Made anew, because an
 * object that had fields deleted is slow to read for ever.
 *
 * @internal
 */
export function defined<Value extends object>(fields: Value): Value {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Value;
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
    // `===` at each place, and not in one function for all: where it only meets one kind of value it compares pointers.
    ((stored.observedGeneration === update.observedGeneration &&
      stored.cause === update.cause &&
      stored.generalReasons === update.generalReasons &&
      stored.convertedFrom === update.convertedFrom &&
      stored.unread === update.unread) ||
      sameValue(rareFields(stored), rareFields(update))) &&
    sameForeignFields(stored as object as Fields, update as object as Fields)
  );
}

/** No general reason and none stated are the same claim. */
function rareFields(of: Condition | ConditionUpdate): unknown[] {
  return [of.observedGeneration, of.cause, of.generalReasons ?? [], of.convertedFrom, of.unread];
}

function sameForeignFields(stored: Fields, update: Fields): boolean {
  for (const field in update) {
    const isCompared =
      field === "type" ||
      field === "status" ||
      field === "reason" ||
      field === "message" ||
      field === "observedGeneration" ||
      field === "lastTransitionTime" ||
      field === "generalReasons";
    if (isCompared || stored[field] === update[field]) continue;
    if (!sameValue(stored[field], update[field])) return false;
  }
  return true;
}
