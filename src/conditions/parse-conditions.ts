import type { Condition, ConditionCause } from "./condition.js";
import { isGeneration } from "./condition-shape.js";
import { readStatus } from "./condition-status.js";
import { defined, isObject, textOf, wholeNumber } from "./same-value.js";
import { readTime } from "./transition-time.js";

type Fields = Record<string, unknown>;
type Read = (value: unknown) => unknown;

/** How each field is read. */
const READERS: ReadonlyMap<string, Read> = new Map(
  Object.entries<Read>({
    type: (value) => (isText(value) ? value : undefined),
    status: readStatus,
    reason: textOf,
    message: textOf,
    lastTransitionTime: (value) => readTime(value) ?? textOf(value),
    observedGeneration: (value) => (isGeneration(wholeNumber(value)) ? Number(value) : undefined),
    cause: readCause,
    generalReasons: (value) => (Array.isArray(value) ? value.filter(isText) : undefined),
    convertedFrom: readOrigin,
    unread: (value) => (isFields(value) ? value : undefined),
  }),
);
/** The fields by their names without underscores and letter case: camelCase, snake_case, Go's PascalCase. */
const NAMES = new Map([...READERS.keys()].map((name) => [fold(name), name]));
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
 * a known field holds that cannot be read is kept under `unread`, with the field `Unknown`, empty or absent. Absent
 * reasons, messages and times are empty strings. In a list of conditions only an entry that is no object or has no type
 * is left out; elsewhere also an object that only looks like one, as a watch event and a Secret do.
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
  return (listIn(sent) ?? [sent].flat().filter(isCondition)).flatMap(parseCondition);
}

/** The list that an object keeps. Anything else below one of the names is a foreign field. */
function listIn(input: unknown, depth = 0): readonly unknown[] | undefined {
  for (const container of CONTAINERS) {
    const inner: unknown = Object.entries(input ?? {}).find(([name]) => fold(name) === container)?.[1];
    if (Array.isArray(inner) && inner.some(hasType)) return inner as readonly unknown[];
    const list = isFields(inner) && depth < CONTAINERS.length ? listIn(inner, depth + 1) : undefined;
    if (list) return list;
  }
  return undefined;
}

function hasType(entry: unknown): boolean {
  return isFilled(named(entry)["type"]);
}

/** Whether an entry that stands alone is a condition: one with a status of its own is, whatever else it has. */
function isCondition(entry: unknown): boolean {
  if (!hasType(entry)) return false;
  const { status, ...fields } = named(entry);
  return (
    (isFilled(status) && !isObject(status)) ||
    !Object.entries(fields).some(([name, value]) => MARKS.includes(fold(name)) && isFilled(value))
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseCondition(entry: unknown): readonly Condition[] {
  const unread: Fields = {};
  const said = Object.entries(named(entry)).map(([name, value]) => {
    const read = READERS.get(name);
    const understood = read ? read(value) : value;
    // Of a list, some items may not be understood.
    const partly = Array.isArray(value) && value.length !== (understood as unknown[] | undefined)?.length;
    if (partly || (understood === undefined && isFilled(value))) unread[name] = value;
    return [name, understood];
  });
  const condition: Fields = { ...NOTHING_SAID, ...defined(Object.fromEntries(said) as Fields) };
  if (!condition["type"]) return [];
  if (isFilled(Object.keys(unread)[0]))
    condition["unread"] = { ...(condition["unread"] as Fields), ...unread };
  return [condition as object as Condition];
}

function fold(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

function readCause(value: unknown): ConditionCause | undefined {
  const fields = named(value);
  const reason = textOf(fields["reason"]);
  return reason === undefined ? undefined : { ...fields, reason, message: textOf(fields["message"]) ?? "" };
}

function readOrigin(value: unknown): unknown {
  if (!isFields(value)) return undefined;
  const fields = named(value);
  const cause = readCause(fields["cause"]);
  return cause ? { ...fields, cause } : fields;
}

/** The fields by their exact names. An exact name wins over another spelling, which is then kept as it is. */
function named(value: unknown): Fields {
  const fields = isObject(value) ? value : {};
  const found = new Map<string, unknown>();
  for (const [name, field] of Object.entries(fields)) {
    const exact = NAMES.get(fold(name)) ?? name;
    if (!found.has(exact) || isFilled(field)) {
      found.set(exact !== name && isFilled(fields[exact] ?? found.get(exact)) ? name : exact, field);
    }
  }
  return Object.fromEntries(found);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function isFields(value: unknown): value is Fields {
  return isObject(value) && !Array.isArray(value);
}
