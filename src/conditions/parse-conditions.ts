import type { Condition, ConditionCause } from "./condition.js";
import { isGeneration } from "./condition-shape.js";
import { readStatus } from "./condition-status.js";
import { isObject } from "./same-value.js";
import { readTime } from "./transition-time.js";

type Fields = Record<string, unknown>;
type Read = (value: unknown) => unknown;

/** How each field is read. */
const READERS: ReadonlyMap<string, Read> = new Map(
  Object.entries<Read>({
    type: (value) => (isText(value) ? value : undefined),
    status: readStatus,
    reason: readText,
    message: readText,
    lastTransitionTime: (value) => readTime(value) ?? readText(value),
    observedGeneration: readGeneration,
    cause: readCause,
    generalReasons: (value) => (Array.isArray(value) && value.every(isText) ? value : undefined),
    convertedFrom: readOrigin,
  }),
);
/** The fields by their names without underscores and letter case: camelCase, snake_case, Go's PascalCase. */
const NAMES = new Map([...READERS.keys()].map((name) => [fold(name), name]));
NAMES.set("transitiontime", "lastTransitionTime");
/** Where an object may keep its list: a status, a Kubernetes object, a reply that wraps one. */
const CONTAINERS = ["conditions", "status", "sandbox"];
const NOTHING_SAID = { status: "Unknown", reason: "", message: "", lastTransitionTime: "" } as const;

/**
 * Reads conditions from whatever a peer sent: a list, an object with `conditions` or `status.conditions`, one
 * condition, or the JSON text of any of them; in Kubernetes' field names, protobuf-JSON's (camelCase and snake_case)
 * or Go's.
 *
 * Never throws. Unknown types, reasons and fields are kept as they are. Statuses are read in any case, as booleans and
 * as protobuf enum names or numbers; generations also as strings; times are brought to RFC 3339 in whole seconds. What
 * a known field holds that cannot be read is kept under `raw`, with the field `Unknown`, empty or absent. Absent
 * reasons, messages and times are empty strings. Only an entry that is no object or has no type is left out.
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
  return entriesOf(isText(input) ? parseJson(input) : input).flatMap((entry) =>
    isFields(entry) ? parseCondition(entry) : [],
  );
}

function entriesOf(input: unknown, depth = 0): readonly unknown[] {
  if (Array.isArray(input)) return input;
  if (!isFields(input) || depth > CONTAINERS.length) return [];
  for (const container of CONTAINERS) {
    const inner = Object.entries(input).find(([name]) => name.toLowerCase() === container)?.[1];
    if (isObject(inner)) return entriesOf(inner, depth + 1);
  }
  return [input];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseCondition(entry: Fields): readonly Condition[] {
  const said: [string, unknown][] = [];
  const unread: [string, unknown][] = [];
  for (const [name, value] of Object.entries(named(entry))) {
    const read = READERS.get(name);
    const understood = read ? read(value) : value;
    if (understood !== undefined) said.push([name, understood]);
    else if (isFilled(value)) unread.push([name, value]);
  }
  const condition: Partial<Condition> & Fields = { ...NOTHING_SAID, ...Object.fromEntries(said) };
  if (!condition.type) return [];
  if (unread.length > 0)
    condition["raw"] = { ...(condition["raw"] as object), ...Object.fromEntries(unread) };
  return [condition as Condition & Fields];
}

function fold(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

function readText(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return isText(value) ? value : undefined;
}

/** Protobuf writes an int64 as a string. */
function readGeneration(value: unknown): number | undefined {
  const generation = isText(value) && /^\d+$/.test(value) ? Number(value) : value;
  return isGeneration(generation) ? generation : undefined;
}

function readCause(value: unknown): ConditionCause | undefined {
  const fields = named(value);
  if (!isText(fields["reason"])) return undefined;
  return { ...fields, reason: fields["reason"], message: readText(fields["message"]) ?? "" };
}

function readOrigin(value: unknown): unknown {
  if (!isFields(value)) return undefined;
  const fields = named(value);
  const cause = readCause(fields["cause"]);
  return cause ? { ...fields, cause } : fields;
}

/** The fields by their exact names. An exact name wins over another spelling, which is then kept as it is. */
function named(value: unknown): Fields {
  const fields = isFields(value) ? value : {};
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
