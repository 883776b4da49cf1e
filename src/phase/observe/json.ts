/** A JSON object of which nothing is known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object, or `null` when it is anything else. */
export function objectOf(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The member of an object, or `undefined` when the value is no object or lacks it. Prototype members do not count. */
export function member(value: unknown, key: string): unknown {
  const object = objectOf(value);
  return object !== null && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The member behind a path of keys. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) current = member(current, key);
  return current;
}

/** The objects in an array; entries of any other kind are left out. Anything but an array is empty. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  const objects: JsonObject[] = [];
  for (const entry of value as readonly unknown[]) {
    const object = objectOf(entry);
    if (object !== null) objects.push(object);
  }
  return objects;
}

/** A text that says something, or `null`. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** A text in lower case for comparing, `""` when there is none: letter case never decides. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value.trim().toLowerCase() : "";
}

export function flagOf(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

/** A whole number, or `null`. Exit codes of Windows exceed 32 bits signed, so only safety limits it. */
export function integerOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}
