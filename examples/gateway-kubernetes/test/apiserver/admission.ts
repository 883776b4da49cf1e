import { isDeepStrictEqual } from "node:util";
import { malformedMeta, validateMeta } from "./metadata.js";
import { copy, isObject, textOf, type KubeObject, type Meta } from "./object.js";
import { apiVersion, type Resource, type Subresource } from "./resource.js";
import { badRequest, conflict, invalid, MODIFIED, storageError, type Cause } from "./status.js";

/** `metadata` fields that a client may write; all others are the server's or are dropped. */
const CLIENT_META = ["labels", "annotations", "finalizers", "ownerReferences"] as const;
const MUST_HAVE_VERSION = "Invalid value: 0: must be specified for an update";

/** A body that is an object of this resource's kind, as a copy that may be changed. */
export function decode(resource: Resource, body: unknown): KubeObject {
  if (!isObject(body)) throw badRequest("the request body is not an object");
  const next = copy(body);
  const wanted = apiVersion(resource);
  if (resource.typed) {
    next["kind"] ??= resource.kind;
    next["apiVersion"] ??= wanted;
  }
  if (typeof next["kind"] !== "string" || next["kind"] === "") {
    throw badRequest(`Object 'Kind' is missing in '${JSON.stringify(body).slice(0, 200)}'`);
  }
  if (next["apiVersion"] !== wanted) {
    throw badRequest(
      `the API version in the data (${textOf(next["apiVersion"])}) does not match the expected API version (${wanted})`,
    );
  }
  if (next["kind"] !== resource.kind && !resource.typed) {
    const message = `Invalid value: "${next["kind"]}": must be ${resource.kind}`;
    const name = isObject(next["metadata"]) ? textOf(next["metadata"]["name"]) : "";
    throw invalid(resource.group, next["kind"], name, [
      { reason: "FieldValueInvalid", field: "kind", message },
    ]);
  }
  if (next["kind"] !== resource.kind) {
    throw badRequest(
      `the kind in the data (${next["kind"]}) does not match the expected kind (${resource.kind})`,
    );
  }
  const malformed = malformedMeta(next["metadata"]);
  if (malformed !== null)
    throw badRequest(`${resource.kind} in version "${resource.version}" cannot be handled: ${malformed}`);
  next["metadata"] ??= {};
  return next as unknown as KubeObject;
}

const KNOWN_META = new Set<string>([
  ...CLIENT_META,
  ...["name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"],
  ...["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"],
]);

function unknownMeta(from: Meta): string[] {
  const unknown = Object.keys(from).filter((field) => !KNOWN_META.has(field));
  return unknown.map((field) => `metadata.${field}`);
}

/** The client's part of `metadata`, without empty maps and lists, beside the server's part. */
function meta(own: Partial<Meta> & Pick<Meta, "name" | "uid" | "creationTimestamp">, from: Meta): Meta {
  const merged: Meta = { ...own };
  for (const field of CLIENT_META) {
    const value = from[field] as Meta[typeof field] | null;
    if (value === undefined || value === null || Object.keys(value).length === 0)
      Reflect.deleteProperty(merged, field);
    else Object.assign(merged, { [field]: value });
  }
  return merged;
}

export interface Birth {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly creationTimestamp: string;
}

/** A decoded body as it is created. Also tells the unknown fields that were dropped. */
export function created(resource: Resource, next: KubeObject, birth: Birth): [KubeObject, string[]] {
  if (next.metadata.resourceVersion)
    throw storageError("resourceVersion should not be set on objects to be created");
  const unknown = unknownMeta(next.metadata);
  next.metadata = meta(
    {
      name: birth.name,
      ...(next.metadata.generateName ? { generateName: next.metadata.generateName } : {}),
      ...(resource.namespaced ? { namespace: birth.namespace } : {}),
      uid: birth.uid,
      ...(resource.hasGeneration ? { generation: 1 } : {}),
      creationTimestamp: birth.creationTimestamp,
    },
    next.metadata,
  );
  if (resource.hasStatus) Reflect.deleteProperty(next, "status");
  const dropped = resource.normalize(next);
  resource.prepare(next, null, "");
  refuse(resource, next, [...validateMeta(next, null, resource.typed), ...resource.validate(next, null)]);
  return [next, [...unknown, ...dropped]];
}

/** A decoded body as it replaces `previous`, or as its status does. */
export function updated(
  resource: Resource,
  body: KubeObject,
  previous: KubeObject,
  subresource: Subresource,
): [KubeObject, string[]] {
  const { resourceVersion } = body.metadata;
  const name = previous.metadata.name;
  if (!resourceVersion && !resource.unconditionalUpdate) {
    const cause = {
      reason: "FieldValueInvalid",
      field: "metadata.resourceVersion",
      message: MUST_HAVE_VERSION,
    };
    throw invalid(resource.group, resource.plural, name, [cause]);
  }
  if (resourceVersion && !/^\d+$/.test(resourceVersion)) {
    throw storageError(`strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`);
  }
  if (resourceVersion && resourceVersion !== previous.metadata.resourceVersion)
    throw conflict(resource, name, MODIFIED);

  refuse(resource, previous, immutableMeta(body, previous));
  const next =
    subresource === "status" ? statusOnly(resource, body, previous) : allButStatus(resource, body, previous);
  const dropped = resource.normalize(next);
  resource.prepare(next, previous, subresource);
  if (
    resource.hasGeneration &&
    subresource === "" &&
    !isDeepStrictEqual(contents(next), contents(previous))
  ) {
    next.metadata.generation = (previous.metadata.generation ?? 0) + 1;
  }
  refuse(resource, next, [
    ...validateMeta(next, previous, resource.typed),
    ...resource.validate(next, previous),
  ]);
  return [next, [...unknownMeta(body.metadata), ...dropped]];
}

function allButStatus(resource: Resource, body: KubeObject, previous: KubeObject): KubeObject {
  const next = { ...body, metadata: meta(previous.metadata, body.metadata) };
  if (!resource.hasStatus) return next;
  Reflect.deleteProperty(next, "status");
  return previous.status === undefined ? next : { ...next, status: copy(previous.status) };
}

function statusOnly(resource: Resource, body: KubeObject, previous: KubeObject): KubeObject {
  const next = copy(previous);
  if (body.status === undefined) Reflect.deleteProperty(next, "status");
  else next.status = body.status;
  if (!resource.statusKeepsMeta) return next;
  // Owners are out of the reach of a status writer.
  const { ownerReferences, ...rest } = body.metadata;
  const own = previous.metadata.ownerReferences ?? ownerReferences?.slice(0, 0);
  next.metadata = meta(previous.metadata, { ...rest, ...(own ? { ownerReferences: own } : {}) });
  return next;
}

/** What of `metadata` a client may send back but not change. */
function immutableMeta(body: KubeObject, previous: KubeObject): Cause[] {
  return (["uid", "deletionTimestamp"] as const).flatMap((field) => {
    const sent = body.metadata[field];
    if (!sent || sent === previous.metadata[field]) return [];
    const message = `Invalid value: "${sent}": field is immutable`;
    return [{ reason: "FieldValueInvalid", field: `metadata.${field}`, message }];
  });
}

function contents(object: KubeObject): unknown {
  return { ...object, metadata: null };
}

function refuse(resource: Resource, next: KubeObject, causes: readonly Cause[]): void {
  if (causes.length > 0) throw invalid(resource.group, resource.kind, next.metadata.name, causes);
}
