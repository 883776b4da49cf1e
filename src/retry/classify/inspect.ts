/**
 * Reading of foreign values: an error may be a proxy, carry getters that throw, or come from another realm, where
 * `instanceof` does not hold. Nothing here throws.
 */

export function read(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** Whether a value has fields of names; a list has none. */
export function isFields(value: unknown): value is object {
  try {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    // A proxy that was revoked is not even asked whether it is a list.
    return false;
  }
}

export function readText(value: unknown, key: string): string | undefined {
  const found = read(value, key);
  return typeof found === "string" ? found : undefined;
}

export function readInteger(value: unknown, key: string): number | undefined {
  const found = read(value, key);
  return typeof found === "number" && Number.isInteger(found) ? found : undefined;
}

/** The members of an aggregate of failures, and whether it has more than are looked at. */
interface Members {
  readonly list: readonly unknown[];
  readonly isCut: boolean;
}

/** Only the real kind of an aggregate: other errors carry lists of other things. */
export function readMembers(value: unknown): Members | undefined {
  if (readText(value, "name") !== "AggregateError") return undefined;
  const members = read(value, "errors");
  try {
    if (!Array.isArray(members)) return undefined;
    return { list: members.slice(0, MOST_MEMBERS) as unknown[], isCut: members.length > MOST_MEMBERS };
  } catch {
    return undefined;
  }
}

const MOST_MEMBERS = 32;
const MOST_KEYS = 200;

/**
 * One header, or one entry of call metadata: from `Headers`, gRPC's `Metadata`, a `Map`, a plain object with names in
 * any letter case, or a list in which names and values take turns, or stand in pairs.
 */
export function readHeader(bag: unknown, name: string): string | undefined {
  const first = readEntry(bag, name);
  if (typeof first === "string") return first;
  return typeof first === "number" ? String(first) : undefined;
}

/** The same as it is: metadata may hold bytes. */
export function readEntry(bag: unknown, name: string): unknown {
  if (typeof bag !== "object" || bag === null) return undefined;
  try {
    const get = read(bag, "get");
    let found: unknown;
    if (typeof get === "function") found = Reflect.apply(get, bag, [name]);
    else if (Array.isArray(bag)) found = inList(bag, name);
    else found = read(bag, keyLike(bag, name));
    return Array.isArray(found) ? found[0] : found;
  } catch {
    return undefined;
  }
}

function inList(list: readonly unknown[], name: string): unknown {
  const flat = list
    .slice(0, 2 * MOST_KEYS)
    .flat(1)
    .map(asText);
  const index = flat.findIndex((each, place) => place % 2 === 0 && each?.toLowerCase() === name);
  return index < 0 ? undefined : flat[index + 1];
}

/** Raw headers come as bytes in some clients. */
function asText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? String.fromCharCode(...value.subarray(0, 1000)) : undefined;
}

function keyLike(bag: object, name: string): string {
  if (Object.hasOwn(bag, name)) return name;
  const keys = Object.keys(bag).slice(0, MOST_KEYS);
  return keys.find((key) => key.toLowerCase() === name) ?? name;
}
