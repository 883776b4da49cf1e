import { unobserved, type ObservationDraft } from "../observation.js";
import { at, integerOf, objectOf, textOf, type JsonObject } from "./json.js";
import { observedAtOf, withoutObject, type ObserveOptions } from "./options.js";

/** What an observer reads, and how it is known from anything else. */
export interface WantedObject {
  /** What the input is called, with what is expected of it: `inspect must be one object with State`. */
  readonly said: string;
  isOne(object: JsonObject): boolean;
}

/**
 * The object that an observer reads, or for people what was found in its place. A list of exactly one is that one, for
 * command-line tools print lists; a longer one says nothing of which entry is meant, and an empty one nothing of why.
 */
export function oneObject(value: unknown, wanted: WantedObject): JsonObject | string {
  const list = listOf(value);
  const object = objectOf(list === null ? value : list.length === 1 && !isPage(value) ? list[0] : null);
  if (object !== null && wanted.isOne(object)) return object;
  return `${wanted.said}, got ${gotOf(value, list)}`;
}

/**
 * What is learnt from something that is not the object: what the look-up failed with, else nothing, with a message. A
 * plain `null` is what a caller gives who has learnt nothing, and needs none.
 */
export function notTheObject(
  value: unknown,
  message: string,
  error: unknown,
  options: ObserveOptions,
): ObservationDraft {
  if (value === null || (error !== undefined && error !== null)) return withoutObject(error, options);
  return notRead(message, options);
}

/** Nothing learnt, and why. */
export function notRead(message: string, options: ObserveOptions): ObservationDraft {
  const draft = unobserved(observedAtOf(options));
  draft.message = message;
  return draft;
}

/** An object of Kubernetes: of this kind, or of none, as clients that know the kind leave it out, with some part of one. */
export function isOfKind(object: JsonObject, kind: string): boolean {
  const said = object["kind"];
  if (said !== undefined && said !== null && said !== "") return said === kind;
  // A text there is the API's own Status, which says Failure.
  if (typeof object["status"] === "string") return false;
  return ["metadata", "spec", "status"].some((part) => objectOf(at(object, part)) !== null);
}

/** An array, or the entries of a Kubernetes list. No object that is looked at has `items` of its own. */
function listOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value as readonly unknown[];
  const items = at(value, "items");
  return Array.isArray(items) ? (items as readonly unknown[]) : null;
}

/** A page with more behind it is no list of one. */
function isPage(list: unknown): boolean {
  const remaining = integerOf(at(list, "metadata", "remainingItemCount")) ?? 0;
  return textOf(at(list, "metadata", "continue")) !== null || remaining > 0;
}

/** What was found, by its kind and nothing that it says. */
function gotOf(value: unknown, list: readonly unknown[] | null): string {
  if (list !== null && list.length !== 1) return `a list of ${list.length}`;
  if (list !== null && isPage(value)) return "one page of a list";
  const found = list === null ? value : list[0];
  const got = wordFor(found);
  return list === null ? got : `a list of one: ${got}`;
}

function wordFor(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object") return `a ${typeof value}`;
  const kind = at(value, "kind");
  return typeof kind === "string" && /^[A-Za-z]\w{0,62}$/.test(kind)
    ? `an object of kind ${kind}`
    : "another object";
}
