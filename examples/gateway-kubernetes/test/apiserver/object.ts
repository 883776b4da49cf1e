/** A value as JSON carries it. */
export type Json = string | number | boolean | null | Json[] | JsonObject;

export interface JsonObject {
  [field: string]: Json | undefined;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** The part of `metadata` that the server reads and writes itself. */
export interface Meta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  selfLink?: string;
  managedFields?: Json[];
}

/** An object as it is stored and sent. Stored ones are never changed in place. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: Meta;
  spec?: JsonObject;
  status?: JsonObject;
  [field: string]: unknown;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function copy<T>(value: T): T {
  return structuredClone(value);
}

/** What stands at a dotted path (`spec.nodeName`), or undefined. */
export function at(value: unknown, path: string): unknown {
  let here: unknown = value;
  for (const field of path.split(".")) {
    if (!isObject(here)) return undefined;
    here = here[field];
  }
  return here;
}

/** A string as it is, "" for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A copy without some fields. */
export function without<T extends object, K extends keyof T>(object: T, ...fields: readonly K[]): Omit<T, K> {
  const left = { ...object };
  for (const field of fields) Reflect.deleteProperty(left, field);
  return left;
}

/** An instant in the form of `metav1.Time`: UTC, whole seconds. */
export function timestamp(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace(".000Z", "Z");
}
