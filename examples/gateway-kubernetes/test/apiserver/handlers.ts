import type { ServerResponse } from "node:http";
import type { DeleteOptions } from "./deletion.js";
import { isObject, without, type Json, type KubeObject } from "./object.js";
import { page, type ListQuery } from "./paging.js";
import { JSON_PATCH, MERGE_PATCH } from "./patch.js";
import type { Registry, Target, WriteOptions } from "./registry.js";
import type { ParsedRequest } from "./request.js";
import { apiVersion, type Resource } from "./resource.js";
import { fieldSelector, labelSelector, type Predicate } from "./selectors.js";
import { ApiError, badRequest, invalidOptions, NoSuchPath, unsupportedMediaType } from "./status.js";
import { Watch, type WatchQuery } from "./watch.js";

/** What goes out for a request that succeeds. */
export interface Answer {
  readonly code: number;
  readonly body: unknown;
  readonly warnings: readonly string[];
}

function flag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value === "true" || value === "1";
}

function whole(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === "") return undefined;
  if (!/^-?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing "${value}": invalid syntax`);
  return Number(value);
}

export function resourceOf(registry: Registry, request: ParsedRequest): Resource {
  const resource = registry.find(request.group, request.version, request.plural);
  if (resource === undefined) throw new NoSuchPath();
  if (request.subresource !== "" && !(request.subresource === "status" && resource.hasStatus))
    throw new NoSuchPath();
  if (!resource.namespaced && request.namespace !== "" && request.plural !== "namespaces")
    throw new NoSuchPath();
  // A namespaced object is reached through its namespace only; its lists and watches also across all.
  const across = request.verb === "list" || request.verb === "watch";
  if (resource.namespaced && request.namespace === "" && !across) throw new NoSuchPath();
  return resource;
}

function targetOf(resource: Resource, request: ParsedRequest): Target {
  const namespace = resource.namespaced ? request.namespace : "";
  const subresource = request.subresource === "status" ? "status" : "";
  return { resource, namespace, name: request.name, subresource };
}

/** The keys under which a request's objects are; across all namespaces every key. */
function prefixOf(resource: Resource, request: ParsedRequest): string {
  if (!resource.namespaced) return "/";
  return request.namespace === "" ? "" : `${request.namespace}/`;
}

/** The selection of a list, null for everything. Selectors see the object as the request's version has it. */
function selection(resource: Resource, request: ParsedRequest): Predicate | null {
  const labels = request.query.get("labelSelector") ?? "";
  const fields = request.query.get("fieldSelector") ?? "";
  if (labels === "" && fields === "") return null;
  const [byLabel, byField] = [labelSelector(labels), fieldSelector(fields, resource.fields)];
  return (stored) => byLabel(stored) && byField(resource.fromStorage(stored));
}

function listQuery(query: URLSearchParams): ListQuery {
  return {
    limit: whole(query, "limit") ?? 0,
    continueToken: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    match: query.get("resourceVersionMatch") ?? "",
  };
}

export function list(registry: Registry, resource: Resource, request: ParsedRequest): Answer {
  const found = page(
    registry.store,
    resource.storage,
    prefixOf(resource, request),
    selection(resource, request),
    listQuery(request.query),
  );
  const body = {
    kind: `${resource.kind}List`,
    apiVersion: apiVersion(resource),
    metadata: {
      resourceVersion: String(found.revision),
      // Lists of custom resources carry the field even when it is empty.
      ...(found.continueToken === undefined && resource.typed ? {} : { continue: found.continueToken ?? "" }),
      ...(found.remaining === undefined ? {} : { remainingItemCount: found.remaining }),
    },
    items: found.objects.map((object) => item(resource, object)),
  };
  return { code: 200, body, warnings: [] };
}

/** Typed lists leave `kind` and `apiVersion` of their items out, lists of custom resources keep them. */
function item(resource: Resource, stored: KubeObject): unknown {
  const object = resource.fromStorage(stored);
  if (!resource.typed) return object;
  return without(object, "kind", "apiVersion");
}

export function openWatch(
  registry: Registry,
  resource: Resource,
  request: ParsedRequest,
  response: ServerResponse,
  user: string,
): Watch {
  const { query } = request;
  const wanted = selection(resource, request) ?? (() => true);
  const options: WatchQuery = {
    resourceVersion: query.get("resourceVersion") ?? "",
    match: query.get("resourceVersionMatch") ?? "",
    bookmarks: flag(query, "allowWatchBookmarks") ?? false,
    sendInitialEvents: flag(query, "sendInitialEvents"),
  };
  return new Watch(registry.store, resource, prefixOf(resource, request), wanted, options, response, user);
}

function writeOptions(query: URLSearchParams, warnings: string[]): WriteOptions {
  const dryRun = query.get("dryRun") ?? "";
  if (dryRun !== "" && dryRun !== "All") {
    throw invalidOptions("PatchOptions", "dryRun", `Unsupported value: "${dryRun}": supported values: "All"`);
  }
  const mode = query.get("fieldValidation") ?? "Warn";
  return {
    dryRun: dryRun === "All",
    strict: mode === "Strict",
    warn: mode === "Warn" ? (text) => warnings.push(text) : () => undefined,
  };
}

/** From the body if there is one, else from the query. */
function deleteOptions(query: URLSearchParams, body: unknown): DeleteOptions {
  if (body === undefined) {
    return {
      gracePeriodSeconds: whole(query, "gracePeriodSeconds"),
      propagationPolicy: query.get("propagationPolicy") ?? undefined,
      orphanDependents: flag(query, "orphanDependents"),
      dryRun: query.get("dryRun") === "All",
    };
  }
  if (!isObject(body)) throw badRequest("DeleteOptions: the request body is not an object");
  const { dryRun } = body;
  return {
    ...(body as Omit<DeleteOptions, "dryRun">),
    dryRun: Array.isArray(dryRun) && dryRun.includes("All"),
  };
}

function remove(registry: Registry, target: Target, options: DeleteOptions): Answer {
  const { left, gone } = registry.delete(target, options);
  if (left !== null) {
    return { code: options.orphanDependents === false ? 202 : 200, body: left, warnings: [] };
  }
  const { resource } = target;
  if (resource.returnsDeleted) return { code: 200, body: gone, warnings: [] };
  const details = {
    name: gone.metadata.name,
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
    uid: gone.metadata.uid,
  };
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
  return { code: 200, body, warnings: [] };
}

function removeAll(
  registry: Registry,
  resource: Resource,
  request: ParsedRequest,
  options: DeleteOptions,
): Answer {
  const answer = list(registry, resource, request);
  const { items } = answer.body as { readonly items: readonly KubeObject[] };
  for (const { metadata } of items) {
    registry.delete({ resource, namespace: metadata.namespace ?? "", name: metadata.name }, options);
  }
  return answer;
}

/** Everything but watches. */
export function answer(
  registry: Registry,
  resource: Resource,
  request: ParsedRequest,
  contentType: string,
  body: unknown,
): Answer {
  const target = targetOf(resource, request);
  const warnings: string[] = [];
  const done = (code: number, object: KubeObject): Answer => ({ code, body: object, warnings });
  const { verb, query, name } = request;
  switch (verb) {
    case "get":
      return done(200, registry.get(target));
    case "list":
      return list(registry, resource, request);
    case "create":
      if (name !== "") throw notAllowed();
      checkBodyType(contentType);
      return done(201, registry.create(target, body, writeOptions(query, warnings)));
    case "update": {
      if (name === "") throw notAllowed();
      checkBodyType(contentType);
      const isNew = registry.store.get(resource.storage, `${target.namespace}/${name}`) === null;
      return done(isNew ? 201 : 200, registry.update(target, body, writeOptions(query, warnings)));
    }
    case "patch": {
      if (name === "") throw notAllowed();
      if (contentType !== MERGE_PATCH && contentType !== JSON_PATCH) {
        throw unsupportedMediaType([JSON_PATCH, MERGE_PATCH]);
      }
      // A merge patch of an object is an object; RFC 7386 would replace it by anything else.
      if (contentType === MERGE_PATCH && !isObject(body))
        throw badRequest("error decoding patch: not an object");
      return done(200, registry.patch(target, contentType, body as Json, writeOptions(query, warnings)));
    }
    case "delete":
      if (request.subresource !== "") throw notAllowed();
      return remove(registry, target, deleteOptions(query, body));
    case "deletecollection":
      return removeAll(registry, resource, request, deleteOptions(query, body));
    default:
      throw notAllowed();
  }
}

function checkBodyType(contentType: string): void {
  if (contentType !== "" && contentType !== "application/json")
    throw unsupportedMediaType(["application/json"]);
}

function notAllowed(): ApiError {
  return new ApiError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
}
