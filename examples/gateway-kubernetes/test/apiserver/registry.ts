import { created, decode, updated } from "./admission.js";
import { BUILTIN } from "./builtin-resources.js";
import { CRD_STORAGE, customResourceDefinitions } from "./definition-resource.js";
import { customResources, validateDefinition, type Converter } from "./custom-resources.js";
import { malformedMeta } from "./metadata.js";
import { deletion, isDue, type DeleteOptions } from "./deletion.js";
import { copy, isObject, timestamp, type Json, type KubeObject } from "./object.js";
import { jsonPatch, MERGE_PATCH, mergePatch } from "./patch.js";
import type { Resource, Subresource } from "./resource.js";
import { alreadyExists, badRequest, conflict, forbidden, invalid, notFound, storageError } from "./status.js";
import { keyOf, type Store } from "./store.js";

export interface RegistryOptions {
  readonly store: Store;
  /** The cluster's own clock, epoch milliseconds. */
  readonly now: () => number;
  /** From 0 to below 1: generated names and uids come from it. */
  readonly random: () => number;
  /** Conversions by the name of the CustomResourceDefinition, in place of a webhook. */
  readonly converters: Readonly<Record<string, Converter>>;
}

export interface WriteOptions {
  readonly dryRun?: boolean;
  /** Refuse unknown fields (`Strict`); else they are dropped and told in `warn`. */
  readonly strict?: boolean;
  readonly warn?: (text: string) => void;
}

export interface Target {
  readonly resource: Resource;
  /** "" for a cluster-wide resource. */
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: Subresource;
}

const NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const OBJECT_LIMIT = 1.5 * 1024 * 1024;
/** The storage's JSON is safe inside a page: each of these takes six bytes. */
const ESCAPED = /[<>&\u2028\u2029]/g;

function storedSize(object: KubeObject): number {
  const text = JSON.stringify(object);
  return Buffer.byteLength(text) + 5 * (text.match(ESCAPED)?.length ?? 0);
}

/** The rules of the API over the store, without HTTP. What stand-ins inside the test process use. */
export class Registry {
  readonly store: Store;
  readonly now: () => number;
  readonly #random: () => number;
  readonly #converters: Readonly<Record<string, Converter>>;
  readonly #builtin: readonly Resource[];
  readonly #custom = new Map<string, Resource[]>();

  constructor(options: RegistryOptions) {
    this.store = options.store;
    this.now = options.now;
    this.#random = options.random;
    this.#converters = options.converters;
    this.#builtin = [...BUILTIN, customResourceDefinitions({ validate: validateDefinition }, options.now)];
    this.store.subscribe(({ resource, object, deleted }) => {
      if (resource !== CRD_STORAGE) return;
      const { name } = object.metadata;
      if (deleted) this.#custom.delete(name);
      else this.#custom.set(name, customResources(object, this.#converters[name]));
    });
  }

  /** Every served version of every resource. */
  get resources(): Resource[] {
    return [...this.#builtin, ...[...this.#custom.values()].flat()];
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.resources.find(
      (one) => one.group === group && one.version === version && one.plural === plural,
    );
  }

  /** The resource of a shelf in the store, in its stored version where that is served. */
  stored(storage: string): Resource {
    const versions = this.resources.filter((one) => one.storage === storage);
    const found = versions.find((one) => one.isStored) ?? versions[0];
    if (found === undefined) throw new Error(`no resource is stored as ${storage}`);
    return found;
  }

  get({ resource, namespace, name }: Target): KubeObject {
    return resource.fromStorage(this.#stored({ resource, namespace, name }));
  }

  #stored({ resource, namespace, name }: Target): KubeObject {
    const object = this.store.get(resource.storage, `${namespace}/${name}`);
    if (object === null) throw notFound(resource, name);
    return object;
  }

  create(
    { resource, namespace, name: named }: Target,
    body: unknown,
    options: WriteOptions = {},
  ): KubeObject {
    const next = decode(resource, body);
    this.#checkNamespace(resource, namespace, next);
    const name = next.metadata.name || named || this.#generate(next.metadata.generateName ?? "");
    if (name === "") {
      const message = "Required value: name or generateName is required";
      throw invalid(resource.group, resource.kind, "", [
        { reason: "FieldValueRequired", field: "metadata.name", message },
      ]);
    }
    this.#checkRoom(resource, namespace, name);
    if (this.store.get(resource.storage, `${namespace}/${name}`) !== null)
      throw alreadyExists(resource, name);
    const birth = { namespace, name, uid: this.#uid(), creationTimestamp: timestamp(this.now()) };
    const [object, dropped] = created(resource, next, birth);
    this.#report(resource, dropped, options);
    return this.#write(resource, object, options);
  }

  update(target: Target, body: unknown, options: WriteOptions = {}): KubeObject {
    const { resource, namespace, name, subresource = "" } = target;
    const next = decode(resource, body);
    this.#checkNamespace(resource, namespace, next);
    if (next.metadata.name !== name && (next.metadata.name || subresource === ""))
      throw otherName(next.metadata.name, name);
    if (resource.createOnUpdate && this.store.get(resource.storage, `${namespace}/${name}`) === null) {
      Reflect.deleteProperty(next.metadata, "resourceVersion");
      return this.create(target, next, options);
    }
    const previous = this.get(target);
    const { uid } = next.metadata;
    if (uid && uid !== previous.metadata.uid) {
      const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${previous.metadata.uid}`;
      throw conflict(resource, name, why);
    }
    const [object, dropped] = updated(resource, next, previous, subresource);
    this.#report(resource, dropped, options);
    return this.#write(resource, object, options);
  }

  patch(target: Target, type: string, patch: Json, options: WriteOptions = {}): KubeObject {
    const { resource, name, subresource = "" } = target;
    const previous = this.get(target);
    const whole = previous as unknown as Json;
    const patched = type === MERGE_PATCH ? mergePatch(copy(whole), patch) : jsonPatch(whole, patch);
    const next = decodePatched(resource, patched);
    if (next.metadata.name !== name) throw otherName(next.metadata.name, name);
    const [object, dropped] = updated(resource, next, previous, subresource);
    this.#report(resource, dropped, options);
    return this.#write(resource, object, options);
  }

  /** The object as it stays, or null and the object that went. */
  delete(
    target: Target,
    options: DeleteOptions = {},
  ): { readonly left: KubeObject | null; readonly gone: KubeObject } {
    const { resource } = target;
    const stored = this.#stored(target);
    const left = deletion(resource, stored, options, this.now());
    if (options.dryRun === true)
      return { left: left && resource.fromStorage(left), gone: resource.fromStorage(stored) };
    const written = this.store.write(resource.storage, keyOf(stored), left);
    return { left: left && resource.fromStorage(written), gone: resource.fromStorage(left ?? written) };
  }

  /**
   * Changes a stored object past the rules: what components do through subresources that this server does not serve
   * (a pod's binding, a namespace's finalize) and what tests need to make a state by hand.
   */
  force(target: Target, change: (object: KubeObject) => void): KubeObject {
    const next = copy(this.get(target));
    change(next);
    return this.#write(target.resource, next, {});
  }

  #write(resource: Resource, object: KubeObject, options: WriteOptions): KubeObject {
    const stored = resource.toStorage(object);
    if (storedSize(stored) > OBJECT_LIMIT) throw storageError("etcdserver: request is too large");
    if (options.dryRun === true) return object;
    if (isDue(stored)) {
      this.store.write(resource.storage, keyOf(stored), null);
      return object;
    }
    return resource.fromStorage(this.store.write(resource.storage, keyOf(stored), stored));
  }

  #report(resource: Resource, dropped: readonly string[], { strict, warn }: WriteOptions): void {
    if (strict === true && dropped.length > 0) {
      const list = dropped.map((path) => `unknown field "${path}"`).join(", ");
      throw badRequest(
        `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: strict decoding error: ${list}`,
      );
    }
    for (const path of dropped) warn?.(`unknown field "${path}"`);
  }

  #checkNamespace(resource: Resource, namespace: string, next: KubeObject): void {
    if (!resource.namespaced || (next.metadata.namespace ?? namespace) === namespace) return;
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }

  /** Is there a namespace that takes new objects? */
  #checkRoom(resource: Resource, namespace: string, name: string): void {
    if (!resource.namespaced) return;
    const room = this.store.get("namespaces", `/${namespace}`);
    if (room === null) throw notFound({ group: "", plural: "namespaces" }, namespace);
    if (room.metadata.deletionTimestamp === undefined) return;
    const message = `namespace ${namespace} is being terminated`;
    throw forbidden(
      resource,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }],
    );
  }

  #letters(alphabet: string, count: number): string {
    return Array.from(
      { length: count },
      () => alphabet[Math.floor(this.#random() * alphabet.length)] ?? "",
    ).join("");
  }

  #generate(prefix: string): string {
    return prefix === "" ? "" : prefix.slice(0, 58) + this.#letters(NAME_LETTERS, 5);
  }

  #uid(): string {
    const hex = (count: number): string => this.#letters("0123456789abcdef", count);
    return `${hex(8)}-${hex(4)}-4${hex(3)}-${this.#letters("89ab", 1)}${hex(3)}-${hex(12)}`;
  }
}

function otherName(body: string, url: string): Error {
  return badRequest(`the name of the object (${body}) does not match the name on the URL (${url})`);
}

/** What a patch makes undecodable is 422, what a body is from the start 400. */
function decodePatched(resource: Resource, patched: Json): KubeObject {
  const malformed = isObject(patched) ? malformedMeta(patched["metadata"]) : "not an object";
  if (malformed === null) return decode(resource, patched);
  const message = `Invalid value: ${JSON.stringify(patched).slice(0, 1000)}: ${malformed}`;
  throw invalid("", "", "", [{ reason: "FieldValueInvalid", field: "patch", message }]);
}
