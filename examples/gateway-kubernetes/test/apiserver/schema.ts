import { copy, isObject, type Json, type JsonObject } from "./object.js";
import type { Cause } from "./status.js";

/** The part of a structural schema (OpenAPI v3 in a CustomResourceDefinition) that the server enforces. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly Json[];
  readonly default?: Json;
  readonly nullable?: boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
}

const ROOT = new Set(["apiVersion", "kind", "metadata"]);

/** Drops what the schema does not name, in place; tells the paths that it dropped. */
export function prune(value: Json | undefined, schema: Schema, path = ""): string[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((entry, place) => prune(entry, items, `${path}[${place}]`)) : [];
  }
  if (!isObject(value)) return [];
  const dropped: string[] = [];
  for (const [field, entry] of Object.entries(value)) {
    const here = path === "" ? field : `${path}.${field}`;
    if (path === "" && ROOT.has(field)) continue;
    const known = schema.properties?.[field] ?? schema.additionalProperties;
    if (typeof known === "object") dropped.push(...prune(entry, known, here));
    else if (known !== true && schema["x-kubernetes-preserve-unknown-fields"] !== true) {
      Reflect.deleteProperty(value, field);
      dropped.push(here);
    }
  }
  return dropped;
}

/** Fills in defaults, in place. A null where none may stand takes the default as well. */
export function fill(value: Json | undefined, schema: Schema): void {
  if (Array.isArray(value)) {
    if (schema.items) for (const entry of value) fill(entry, schema.items);
    return;
  }
  if (!isObject(value)) return;
  for (const [field, inner] of Object.entries(schema.properties ?? {})) {
    const missing = value[field] === undefined || (value[field] === null && inner.nullable !== true);
    if (missing && inner.default !== undefined) value[field] = copy(inner.default);
    fill(value[field], inner);
  }
  if (typeof schema.additionalProperties === "object") {
    for (const entry of Object.values(value)) fill(entry, schema.additionalProperties);
  }
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function fits(value: Json, schema: Schema): boolean {
  const type = typeOf(value);
  if (schema["x-kubernetes-int-or-string"] === true) return type === "integer" || type === "string";
  if (value === null) return schema.nullable === true;
  return (
    schema.type === undefined || type === schema.type || (type === "integer" && schema.type === "number")
  );
}

export function check(value: Json, schema: Schema, path = ""): Cause[] {
  const field = path === "" ? "<nil>" : path;
  const wrong = (why: string): Cause => ({
    reason: "FieldValueInvalid",
    field,
    message: `Invalid value: ${JSON.stringify(value)}: ${field} in body ${why}`,
  });
  if (!fits(value, schema)) {
    return [
      {
        reason: "FieldValueTypeInvalid",
        field,
        message: `Invalid value: "${typeOf(value)}": ${field} in body must be of type ${schema.type ?? "any"}: "${typeOf(value)}"`,
      },
    ];
  }
  const causes: Cause[] = [];
  if (schema.enum && value !== null && !schema.enum.includes(value)) {
    const supported = schema.enum.map((entry) => JSON.stringify(entry)).join(", ");
    const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`;
    causes.push({ reason: "FieldValueNotSupported", field, message });
  }
  if (typeof value === "number") causes.push(...checkNumber(value, schema, wrong));
  else if (typeof value === "string") causes.push(...checkString(value, schema, wrong));
  else if (Array.isArray(value)) causes.push(...checkList(value, schema, path, wrong));
  else if (isObject(value)) causes.push(...checkFields(value, schema, path));
  return causes;
}

function checkNumber(value: number, schema: Schema, wrong: (why: string) => Cause): Cause[] {
  const causes: Cause[] = [];
  if (schema.minimum !== undefined && value < schema.minimum) {
    causes.push(wrong(`should be greater than or equal to ${schema.minimum}`));
  }
  if (schema.maximum !== undefined && value > schema.maximum) {
    causes.push(wrong(`should be less than or equal to ${schema.maximum}`));
  }
  return causes;
}

function checkString(value: string, schema: Schema, wrong: (why: string) => Cause): Cause[] {
  const causes: Cause[] = [];
  const length = Array.from(value).length;
  if (schema.minLength !== undefined && length < schema.minLength) {
    causes.push(wrong(`should be at least ${schema.minLength} chars long`));
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    causes.push({
      ...wrong(""),
      reason: "FieldValueTooLong",
      message: `Too long: may not be more than ${schema.maxLength} bytes`,
    });
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value)) {
    causes.push(wrong(`should match '${schema.pattern}'`));
  }
  if (
    schema.format === "date-time" &&
    !(/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value)))
  ) {
    causes.push({
      ...wrong(`must be of type date-time: ${JSON.stringify(value)}`),
      reason: "FieldValueTypeInvalid",
    });
  }
  return causes;
}

function checkList(value: Json[], schema: Schema, path: string, wrong: (why: string) => Cause): Cause[] {
  const causes: Cause[] = [];
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    causes.push(wrong(`should have at least ${schema.minItems} items`));
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    causes.push({
      ...wrong(""),
      reason: "FieldValueTooMany",
      message: `Too many: ${value.length}: must have at most ${schema.maxItems} items`,
    });
  }
  const keys = schema["x-kubernetes-list-type"] === "map" ? schema["x-kubernetes-list-map-keys"] : undefined;
  const isSet = schema["x-kubernetes-list-type"] === "set";
  const seen = new Set<string>();
  value.forEach((entry, place) => {
    const here = `${path}[${place}]`;
    if (schema.items) causes.push(...check(entry, schema.items, here));
    if (!isSet && !keys) return;
    const identity =
      keys && isObject(entry) ? Object.fromEntries(keys.map((key) => [key, entry[key]])) : entry;
    const text = JSON.stringify(identity);
    if (seen.has(text))
      causes.push({ reason: "FieldValueDuplicate", field: here, message: `Duplicate value: ${text}` });
    seen.add(text);
  });
  return causes;
}

function checkFields(value: JsonObject, schema: Schema, path: string): Cause[] {
  const causes: Cause[] = [];
  const below = (field: string): string => (path === "" ? field : `${path}.${field}`);
  for (const field of schema.required ?? []) {
    if (value[field] !== undefined) continue;
    causes.push({ reason: "FieldValueRequired", field: below(field), message: "Required value" });
  }
  for (const [field, entry] of Object.entries(value)) {
    if (entry === undefined || (path === "" && ROOT.has(field))) continue;
    const known = schema.properties?.[field] ?? schema.additionalProperties;
    if (typeof known === "object") causes.push(...check(entry, known, below(field)));
  }
  return causes;
}
