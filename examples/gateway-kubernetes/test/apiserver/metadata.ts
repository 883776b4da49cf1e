import { isObject, type KubeObject } from "./object.js";
import type { Cause } from "./status.js";

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const ANNOTATIONS_LIMIT = 256 * 1024;
/** The finalizers without a slash that Kubernetes itself uses. */
const STANDARD_FINALIZERS = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

function wrong(field: string, value: string, why: string): Cause {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: "${value}": ${why}` };
}

function qualifiedName(key: string): boolean {
  const [last = "", prefix, ...more] = key.split("/").reverse();
  if (more.length > 0 || last.length > 63 || !LABEL_NAME.test(last)) return false;
  return prefix === undefined || (prefix.length <= 253 && SUBDOMAIN.test(prefix));
}

/** The maps and lists of `metadata` have their types, else decoding fails with this message. */
export function malformedMeta(meta: unknown): string | null {
  if (meta === undefined) return null;
  if (!isObject(meta)) return "metadata: expected an object";
  for (const field of ["labels", "annotations"]) {
    const map = meta[field];
    if (map === undefined || map === null) continue;
    if (!isObject(map) || Object.values(map).some((value) => typeof value !== "string")) {
      return `.metadata.${field}: expected a map of strings`;
    }
  }
  for (const field of ["finalizers", "ownerReferences", "managedFields"]) {
    if (meta[field] !== undefined && meta[field] !== null && !Array.isArray(meta[field])) {
      return `.metadata.${field}: expected a list`;
    }
  }
  for (const field of ["name", "namespace", "generateName", "uid", "resourceVersion"]) {
    if (meta[field] !== undefined && meta[field] !== null && typeof meta[field] !== "string") {
      return `.metadata.${field}: expected a string`;
    }
  }
  return null;
}

/** `strict`: finalizers without a domain must be standard ones, as typed resources want it. */
export function validateMeta(next: KubeObject, previous: KubeObject | null, strict: boolean): Cause[] {
  const { metadata } = next;
  const causes: Cause[] = [];
  if (previous === null && (metadata.name.length > 253 || !SUBDOMAIN.test(metadata.name))) {
    causes.push(
      wrong(
        "metadata.name",
        metadata.name,
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'",
      ),
    );
  }
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (!qualifiedName(key))
      causes.push(
        wrong("metadata.labels", key, "name part must consist of alphanumeric characters, '-', '_' or '.'"),
      );
    if (value.length > 63) causes.push(wrong("metadata.labels", value, "must be no more than 63 bytes"));
    else if (!LABEL_VALUE.test(value))
      causes.push(
        wrong(
          "metadata.labels",
          value,
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.'",
        ),
      );
  }
  let size = 0;
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
    // Annotations take upper case in the prefix, unlike labels.
    if (!qualifiedName(key.toLowerCase()))
      causes.push(
        wrong(
          "metadata.annotations",
          key,
          "name part must consist of alphanumeric characters, '-', '_' or '.'",
        ),
      );
  }
  if (size > ANNOTATIONS_LIMIT) {
    causes.push({
      reason: "FieldValueTooLong",
      field: "metadata.annotations",
      message: `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`,
    });
  }
  for (const finalizer of metadata.finalizers ?? []) {
    if (!qualifiedName(finalizer))
      causes.push(
        wrong(
          "metadata.finalizers",
          finalizer,
          "name part must consist of alphanumeric characters, '-', '_' or '.'",
        ),
      );
    else if (strict && !finalizer.includes("/") && !STANDARD_FINALIZERS.has(finalizer)) {
      causes.push(
        wrong(
          "metadata.finalizers",
          finalizer,
          "name is neither a standard finalizer name nor is it fully qualified",
        ),
      );
    }
  }
  return [...causes, ...owners(next), ...(previous === null ? [] : frozenWhileDeleting(next, previous))];
}

function owners(next: KubeObject): Cause[] {
  const references = next.metadata.ownerReferences ?? [];
  const causes = references.flatMap((reference) =>
    (["apiVersion", "kind", "name", "uid"] as const)
      .filter((field) => !reference[field])
      .map((field) => wrong(`metadata.ownerReferences.${field}`, "", "must not be empty")),
  );
  if (references.filter((reference) => reference.controller === true).length > 1) {
    const why = "Only one reference can have Controller set to true";
    causes.push(wrong("metadata.ownerReferences", next.metadata.name, why));
  }
  return causes;
}

function frozenWhileDeleting(next: KubeObject, previous: KubeObject): Cause[] {
  if (previous.metadata.deletionTimestamp === undefined) return [];
  const had = new Set(previous.metadata.finalizers);
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !had.has(finalizer));
  if (added.length === 0) return [];
  const list = added.map((finalizer) => `"${finalizer}"`).join(", ");
  return [
    {
      reason: "FieldValueForbidden",
      field: "metadata.finalizers",
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    },
  ];
}
