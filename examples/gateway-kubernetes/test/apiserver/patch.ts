import { isDeepStrictEqual } from "node:util";
import { copy, isObject, type Json } from "./object.js";
import { ApiError, badRequest } from "./status.js";

export const MERGE_PATCH = "application/merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";

/** RFC 7386. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, field);
    else if (value !== undefined) result[field] = mergePatch(result[field], value);
  }
  return result;
}

interface Operation {
  readonly op: string;
  readonly path: string[];
  readonly from: string[];
  readonly value: Json | undefined;
}

/** A real server does not tell what failed. */
function refuse(): ApiError {
  return new ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

function pointer(text: unknown, what: string): string[] {
  if (typeof text !== "string" || (text !== "" && !text.startsWith("/"))) {
    throw badRequest(`json patch: ${what} is not a JSON pointer: ${JSON.stringify(text)}`);
  }
  return text
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function operations(patch: unknown): Operation[] {
  if (!Array.isArray(patch)) throw badRequest("json patch: the body is not a list of operations");
  return patch.map((entry: unknown) => {
    if (!isObject(entry) || typeof entry["op"] !== "string") {
      throw badRequest(`json patch: not an operation: ${JSON.stringify(entry)}`);
    }
    const from = entry["from"] === undefined ? [] : pointer(entry["from"], "from");
    return { op: entry["op"], path: pointer(entry["path"], "path"), from, value: entry["value"] };
  });
}

function read(document: Json, path: readonly string[]): Json | undefined {
  let here: Json | undefined = document;
  for (const part of path) {
    if (Array.isArray(here)) here = /^\d+$/.test(part) ? here[Number(part)] : undefined;
    else if (isObject(here)) here = Object.hasOwn(here, part) ? here[part] : undefined;
    else return undefined;
  }
  return here;
}

function parent(document: Json, path: readonly string[]): [Json, string] {
  const holder = read(document, path.slice(0, -1));
  if (holder === undefined || holder === null || typeof holder !== "object") {
    throw refuse();
  }
  return [holder, path.at(-1) ?? ""];
}

function add(document: Json, path: readonly string[], value: Json): Json {
  if (path.length === 0) return value;
  const [holder, last] = parent(document, path);
  if (Array.isArray(holder)) {
    const place = last === "-" ? holder.length : Number(last);
    if (!Number.isInteger(place) || place < 0 || place > holder.length) {
      throw refuse();
    }
    holder.splice(place, 0, value);
  } else if (isObject(holder)) holder[last] = value;
  return document;
}

function remove(document: Json, path: readonly string[]): void {
  const [holder, last] = parent(document, path);
  if (read(document, path) === undefined) throw refuse();
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else if (isObject(holder)) Reflect.deleteProperty(holder, last);
}

function present(document: Json, path: readonly string[]): Json {
  const value = read(document, path);
  if (value === undefined) throw refuse();
  return value;
}

function apply(document: Json, { op, path, from, value }: Operation): Json {
  if (["add", "replace", "test"].includes(op) && value === undefined) {
    throw badRequest(`json patch: ${op} without a value`);
  }
  switch (op) {
    case "add":
      return add(document, path, copy(value ?? null));
    case "remove":
      remove(document, path);
      return document;
    case "replace":
      present(document, path);
      if (path.length > 0) remove(document, path);
      return add(document, path, copy(value ?? null));
    case "copy":
      return add(document, path, copy(present(document, from)));
    case "move": {
      const moved = present(document, from);
      remove(document, from);
      return add(document, path, moved);
    }
    case "test":
      if (isDeepStrictEqual(read(document, path) ?? null, value)) return document;
      throw refuse();
    default:
      throw badRequest(`json patch: unknown operation "${op}"`);
  }
}

/** RFC 6902. A failed `test` or a missing place is 422, a malformed patch 400. */
export function jsonPatch(target: Json, patch: unknown): Json {
  return operations(patch).reduce(apply, copy(target));
}
