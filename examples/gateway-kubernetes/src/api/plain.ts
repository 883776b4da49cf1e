/** A JSON object as the API server sent it: nothing in it is taken for granted. */
export type Plain = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path, `undefined` where the path ends early. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) found = isRecord(found) ? found[key] : undefined;
  return found;
}

/** The text at a path, `null` where there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = memberOf(value, ...path);
  return typeof found === "string" && found !== "" ? found : null;
}

export function recordsOf(value: unknown): readonly Plain[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function nameOf(object: Plain): string {
  return textAt(object, "metadata", "name") ?? "";
}

export function uidOf(object: Plain): string {
  return textAt(object, "metadata", "uid") ?? "";
}

/** Opaque: compared for equality and handed back, never counted with. */
export function resourceVersionOf(object: Plain): string {
  return textAt(object, "metadata", "resourceVersion") ?? "";
}
