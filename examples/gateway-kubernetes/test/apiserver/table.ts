import { isObject, type KubeObject } from "./object.js";
import type { Column, Resource } from "./resource.js";

/** Does the client want its list as a table, as `kubectl get` does? */
export function wantsTable(accept: string): boolean {
  return (accept.split(",")[0] ?? "").includes("as=Table");
}

/** The first value at a JSONPath of the kinds that columns use: `.a.b`, `.a[0]`, `.a[?(@.type=="Ready")].status`. */
function jsonPath(value: unknown, path: string): unknown {
  let here: unknown = value;
  for (const [, field, place, key, wanted] of path.matchAll(
    /\.([\w-]+)|\[(\d+)\]|\[\?\(@\.(\w+)==["']([^"']*)["']\)\]/g,
  )) {
    if (field !== undefined) here = isObject(here) ? here[field] : undefined;
    else if (!Array.isArray(here)) return undefined;
    else if (place !== undefined) here = here[Number(place)];
    else here = here.find((entry) => isObject(entry) && entry[key ?? ""] === wanted);
  }
  return here;
}

function age(since: unknown, now: number): string {
  const seconds = typeof since === "string" ? Math.floor((now - Date.parse(since)) / 1000) : Number.NaN;
  if (Number.isNaN(seconds)) return "<unknown>";
  if (seconds < 120) return `${Math.max(0, seconds)}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

const AGE: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** Objects as a `meta.k8s.io/v1` Table by the resource's own columns. */
export function table(
  resource: Resource,
  objects: readonly KubeObject[],
  listMeta: object,
  now: number,
): object {
  const columns = resource.columns.length > 0 ? resource.columns : [AGE];
  const define = ({ name, type, priority = 0 }: Column, format = ""): object => ({
    name,
    type,
    format,
    description: "",
    priority,
  });
  const cell = (object: KubeObject, column: Column): unknown => {
    const value = jsonPath(object, column.jsonPath);
    return column.type === "date" ? age(value, now) : (value ?? null);
  };
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: listMeta,
    columnDefinitions: [
      define({ name: "Name", type: "string", jsonPath: "" }, "name"),
      ...columns.map((column) => define(column)),
    ],
    rows: objects.map((object) => ({
      cells: [object.metadata.name, ...columns.map((column) => cell(object, column))],
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
    })),
  };
}
