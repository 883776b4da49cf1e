import type { JsonObject, KubeObject } from "./object.js";
import type { Cause, GroupResource } from "./status.js";

/** Which part of an object a write goes to: "" is the object itself. */
export type Subresource = "" | "status";

/** A served version of a resource: what its paths, its storage and its rules are. */
export interface Resource extends GroupResource {
  readonly version: string;
  readonly kind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** The name of the shelf in the store, the same for all versions. */
  readonly storage: string;
  /** Is this the version that is stored? */
  readonly isStored: boolean;
  readonly hasStatus: boolean;
  /** An update without a resource version overwrites whatever is there. */
  readonly unconditionalUpdate: boolean;
  /** A PUT to a name that does not exist creates it. */
  readonly createOnUpdate: boolean;
  /** DELETE answers with the object rather than with a `Status`. */
  readonly returnsDeleted: boolean;
  /** Names `metadata` fields of a `/status` write that are taken, beside `status`. */
  readonly statusKeepsMeta: boolean;
  /** Does the server count `metadata.generation`? */
  readonly hasGeneration: boolean;
  /** Without `kind` and `apiVersion` in the body these are taken from the path. */
  readonly typed: boolean;
  readonly fields: Readonly<Record<string, (object: KubeObject) => string>>;
  readonly columns: readonly Column[];
  /** Defaults, and pruning of what the schema does not know; returns the paths of what was dropped. */
  normalize(next: KubeObject): string[];
  /** Server-set parts of a creation or an update, on the copy that is about to be written. */
  prepare(next: KubeObject, previous: KubeObject | null, subresource: Subresource): void;
  validate(next: KubeObject, previous: KubeObject | null): Cause[];
  /** Seconds that a deletion waits for the object to end by itself. */
  grace(object: KubeObject, asked: number | undefined): number;
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly priority?: number;
}

export function apiVersion(of: { readonly group: string; readonly version: string }): string {
  return of.group === "" ? of.version : `${of.group}/${of.version}`;
}

const NAME = (object: KubeObject): string => object.metadata.name;
const NAMESPACE = (object: KubeObject): string => object.metadata.namespace ?? "";

/** A resource with the rules that most share; `own` says what is different. */
export function resource(
  own: Pick<Resource, "group" | "version" | "plural" | "kind"> & Partial<Resource>,
): Resource {
  const namespaced = own.namespaced ?? true;
  return {
    singular: own.kind.toLowerCase(),
    shortNames: [],
    storage: own.group === "" ? own.plural : `${own.plural}.${own.group}`,
    isStored: true,
    hasStatus: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
    returnsDeleted: false,
    statusKeepsMeta: true,
    hasGeneration: false,
    typed: true,
    columns: [],
    normalize: () => [],
    prepare: () => undefined,
    validate: () => [],
    grace: () => 0,
    toStorage: (object) => object,
    fromStorage: (object) => object,
    ...own,
    namespaced,
    fields: {
      "metadata.name": NAME,
      ...(namespaced ? { "metadata.namespace": NAMESPACE } : {}),
      ...own.fields,
    },
  };
}

export function specOf(object: KubeObject): JsonObject {
  return (object.spec ??= {});
}

export function statusOf(object: KubeObject): JsonObject {
  return (object.status ??= {});
}
