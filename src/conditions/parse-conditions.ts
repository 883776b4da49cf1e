import type { Condition, ConditionCause } from "./condition.js";
import { readStatus } from "./condition-status.js";
import { readTime } from "./transition-time.js";

type Fields = Record<string, unknown>;
type Read = (value: unknown) => unknown;

/** How each field is read, by its name without underscores and letter case: camelCase, snake_case, Go's PascalCase. */
const READERS: ReadonlyMap<string, readonly [field: string, read: Read]> = new Map(
  Object.entries<Read>({
    type: (value) => (isText(value) && isFilled(value) ? value : undefined),
    status: (value) => (isFilled(value) ? readStatus(value) : undefined),
    reason: readText,
    message: readText,
    lastTransitionTime: readTimeText,
    transitionTime: readTimeText,
    observedGeneration: readGeneration,
    cause: readCause,
    generalReasons: (value) => (Array.isArray(value) && value.every(isText) ? value : undefined),
    convertedFrom: (value) => (isFields(value) ? value : undefined),
  }).map(([name, read]) => [fold(name), [name === "transitionTime" ? "lastTransitionTime" : name, read]]),
);
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
    if (typeof inner === "object" && inner !== null) return entriesOf(inner, depth + 1);
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
  const known = new Map<string, unknown>();
  const unread: [string, unknown][] = [];
  const foreign: [string, unknown][] = [];
  const fields = Object.entries(entry).map(
    ([name, value]) => [name, value, ...(READERS.get(fold(name)) ?? [])] as const,
  );
  // The exact name of a field wins over another spelling of it, which then counts as foreign and is kept.
  fields.sort((a, b) => Number(b[0] === b[2]) - Number(a[0] === a[2]));
  for (const [name, value, field, read] of fields) {
    if (field === undefined || known.has(field)) {
      foreign.push([name, value]);
      continue;
    }
    const understood = read?.(value);
    if (understood !== undefined) known.set(field, understood);
    else if (isFilled(value)) unread.push([field, value]);
  }
  if (!known.has("type")) return [];
  const condition = { ...NOTHING_SAID, ...Object.fromEntries([...known, ...foreign]) } as Condition & Fields;
  if (unread.length === 0) return [condition];
  return [
    { ...condition, raw: { ...(condition["raw"] as object), ...Object.fromEntries(unread) } } as Condition,
  ];
}

function fold(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

function readText(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return isText(value) ? value : undefined;
}

function readTimeText(value: unknown): string | undefined {
  return readTime(value) ?? readText(value);
}

/** Protobuf writes an int64 as a string. */
function readGeneration(value: unknown): number | undefined {
  const generation = isText(value) && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(generation) && (generation as number) >= 0 ? (generation as number) : undefined;
}

function readCause(value: unknown): ConditionCause | undefined {
  if (!isFields(value) || !isText(value["reason"])) return undefined;
  return { ...value, reason: value["reason"], message: readText(value["message"]) ?? "" };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
