import type { Condition } from "./condition.js";
import { isGeneration } from "./condition-shape.js";
import { readStatus } from "./condition-status.js";
import { MOST_ORIGINS } from "./matches-reason.js";
import { type Fields, isFields, isObject, isText, textOf, wholeNumber } from "./same-value.js";
import { readTime } from "./transition-time.js";

type Read = (value: unknown, depth: number) => unknown;

/** How each field is read; `undefined` where a value cannot be. */
const READERS: Readonly<Record<string, Read>> = {
  type: (value) => (isText(value) ? value : undefined),
  status: readStatus,
  reason: textOf,
  message: textOf,
  lastTransitionTime: (value) => readTime(value) ?? textOf(value),
  observedGeneration: (value) => (isGeneration(wholeNumber(value)) ? Number(value) : undefined),
  cause: readCause,
  generalReasons: (value) => (Array.isArray(value) ? value.filter(isText) : undefined),
  // Deeper than a conversion puts one it stays unread.
  convertedFrom: (value, depth) =>
    isFields(value) && depth < MOST_ORIGINS ? read(value, fieldsOfOrigin, depth + 1) : undefined,
  // What is none was written by somebody who has another use for the name.
  unread: (value) => (isFields(value) ? value : { unread: value }),
};
const fieldsOfCondition = Object.keys(READERS);
const fieldsOfOrigin = ["reason", "generalReasons", "cause", "convertedFrom", "unread"];
/** The fields by their names without underscores and letter case: camelCase, snake_case, Go's PascalCase. */
const NAMES = new Map(fieldsOfCondition.map((name) => [fold(name), name]));
NAMES.set("transitiontime", "lastTransitionTime");
/** Where an object may keep its list: a status, a Kubernetes object, a reply or a watch event that wraps one. */
const CONTAINERS = ["conditions", "status", "sandbox", "object"];
/** What marks an object with a `type` of its own that is no condition: a watch event, a Secret, an Event. */
const MARKS = ["object", "kind", "apiversion", "metadata", "data"];
const NOTHING_SAID = { status: "Unknown", reason: "", message: "", lastTransitionTime: "" } as const;

/**
 * Reads conditions from whatever a peer sent: a list, an object with `conditions` or `status.conditions`, a watch event
 * of one, one condition, or the JSON text of any of them; in Kubernetes' field names, protobuf-JSON's (camelCase and
 * snake_case) or Go's.
 *
 * Never throws. Unknown types, reasons and fields are kept as they are. Statuses are read in any case, as booleans and
 * as protobuf enum names or numbers; generations also as strings; times are brought to RFC 3339 in whole seconds. What
 * a known field holds that cannot be read is kept under `unread`, by the name that it was sent under, with the field
 * `Unknown`, empty or absent. Of two spellings of a field the exact one is read, or else the first that can be; another
 * stays beside it. Absent reasons, messages and times are empty strings. In a list of conditions (under
 * `conditions`, or bare with at least one condition in it) only an entry that is no object or has no type is left out;
 * elsewhere also an object that only looks like one, as a watch event and a Secret do. What was read once reads the same again.
 *
 * @example
 * ```ts
 * import { parseConditions } from "slipway/conditions";
 *
 * const sandbox = { status: { conditions: [{ type: "Ready", status: "CONDITION_STATUS_TRUE", last_transition_time: null }] } };
 * parseConditions(sandbox); // => [{ type: "Ready", status: "True", reason: "", message: "", lastTransitionTime: "" }]
 * ```
 *
 * @public
 */
export function parseConditions(input: unknown): readonly Condition[] {
  const sent = isText(input) ? parseJson(input) : input;
  const entries: readonly unknown[] = [sent].flat();
  // One condition makes all of them some, as the name of a list does.
  return (listIn(sent) ?? (entries.some(isCondition) ? entries : [])).flatMap(parseCondition);
}

/** The list that an object keeps. Anything else below one of the names is a foreign field. */
function listIn(input: unknown, depth = 0): readonly unknown[] | undefined {
  for (const container of CONTAINERS) {
    const [inner] = said(input, container);
    if (Array.isArray(inner) && inner.some(hasType)) return inner as readonly unknown[];
    const list = isFields(inner) && depth < CONTAINERS.length ? listIn(inner, depth + 1) : undefined;
    if (list) return list;
  }
  return undefined;
}

function hasType(entry: unknown): boolean {
  return said(entry, "type").length > 0;
}

/** Whether an entry that stands alone is a condition: one with a status of its own is, whatever else it has. */
function isCondition(entry: unknown): boolean {
  if (!hasType(entry)) return false;
  return !said(entry, "status").every(isObject) || said(entry, ...MARKS).length === 0;
}

/** What an entry says under the spellings of names. */
function said(entry: unknown, ...folded: readonly string[]): readonly unknown[] {
  if (!isFields(entry)) return [];
  return Object.entries(entry).flatMap(([name, value]) =>
    folded.includes(fold(name)) && isFilled(value) ? [value] : [],
  );
}

function parseJson(text: string): unknown {
  try {
    // A byte order mark counts as a blank.
    return JSON.parse(text.trim());
  } catch {
    return undefined;
  }
}

function parseCondition(entry: unknown): readonly Condition[] {
  const fields = isFields(entry) ? read(entry, fieldsOfCondition) : {};
  return fields["type"] ? [{ ...NOTHING_SAID, ...fields } as object as Condition] : [];
}

/** The fields of these names as they are read, and all others as they are. */
function read(sent: Fields, names: readonly string[], depth = 0): Fields {
  const found = new Map<string, unknown>();
  const unread: Fields = {};
  // Exact names first: they win over another spelling.
  for (const name of new Set([...names, ...Object.keys(sent)])) {
    const value = sent[name];
    const field = NAMES.get(fold(name)) ?? "";
    const isForeign = !names.includes(field);
    if (isForeign ? value === undefined : !isFilled(value)) continue;
    if (isForeign || found.has(field)) found.set(name, value);
    else {
      const understood = READERS[field]?.(value, depth);
      if (understood !== undefined) found.set(field, understood);
      // Of a list, some items may not be understood.
      const partly = Array.isArray(understood) && understood.length < (value as readonly unknown[]).length;
      if (partly || understood === undefined) unread[name] = value;
    }
  }
  const before = found.get("unread") as Fields | undefined;
  const unreadNames = Object.keys(unread);
  // An earlier reader's words, or a peer's own field of that name: neither is written over.
  const kept = unreadNames.some((name) => name in (before ?? {})) ? { unread: before } : before;
  if (unreadNames.length > 0) found.set("unread", { ...kept, ...unread });
  return Object.fromEntries(found);
}

function fold(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

function readCause(value: unknown): unknown {
  const fields = isFields(value) ? read(value, ["reason", "message", "unread"]) : {};
  return isFilled(fields["reason"] ?? fields["message"]) ? { reason: "", message: "", ...fields } : undefined;
}

function isFilled(value: unknown): boolean {
  return (value ?? "") !== "";
}
