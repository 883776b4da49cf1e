import { at, timestamp, without, type KubeObject } from "./object.js";
import type { Resource } from "./resource.js";
import { conflict, invalidOptions } from "./status.js";

export const ORPHAN = "orphan";
export const FOREGROUND = "foregroundDeletion";

/** `DeleteOptions`, from the body or the query. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Does something other than a grace period keep an object that is being deleted? */
export function held(object: KubeObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return true;
  const own = object.kind === "Namespace" ? at(object, "spec.finalizers") : undefined;
  return Array.isArray(own) && own.length > 0;
}

/** May an object marked for deletion go now? */
export function isDue(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !held(object);
}

function checkPreconditions(resource: Resource, object: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { name, uid: ownUid, resourceVersion: ownVersion } = object.metadata;
  // Here a real server names the kind where elsewhere it names the plural.
  const what = { group: resource.group, plural: resource.kind };
  if (uid !== undefined && uid !== ownUid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${ownUid}). The object might have been deleted and then recreated`;
    throw conflict(what, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== ownVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${ownVersion ?? ""}). The object might have been modified`;
    throw conflict(what, name, why);
  }
}

function finalizersFor(object: KubeObject, options: DeleteOptions): string[] {
  const own = object.metadata.finalizers ?? [];
  const { propagationPolicy, orphanDependents } = options;
  const refuse = (message: string): Error => invalidOptions("DeleteOptions", "propagationPolicy", message);
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    throw refuse(
      `Invalid value: "${propagationPolicy}": orphanDependents and deletionPropagation cannot be both set`,
    );
  }
  if (
    propagationPolicy !== undefined &&
    !["Orphan", "Background", "Foreground"].includes(propagationPolicy)
  ) {
    throw refuse(
      `Unsupported value: "${propagationPolicy}": supported values: "Foreground", "Background", "Orphan", "nil"`,
    );
  }
  const policy =
    propagationPolicy ??
    (orphanDependents === undefined ? undefined : orphanDependents ? "Orphan" : "Background");
  if (policy === undefined) return own;
  const others = own.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (policy === "Orphan") return [...others, ORPHAN];
  return policy === "Foreground" ? [...others, FOREGROUND] : others;
}

/**
 * What a DELETE makes of an object: null if it goes at once, else the object as it stays, marked for deletion or
 * unchanged.
 */
export function deletion(
  resource: Resource,
  object: KubeObject,
  options: DeleteOptions,
  now: number,
): KubeObject | null {
  checkPreconditions(resource, object, options);
  const { gracePeriodSeconds } = options;
  // A negative period stands for the shortest that is not none.
  const asked = gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds;
  const finalizers = finalizersFor(object, options);
  const grace = resource.grace(object, asked);
  const rest = without(object.metadata, "finalizers");
  const marked: KubeObject = {
    ...object,
    metadata: { ...rest, ...(finalizers.length > 0 ? { finalizers } : {}), ...mark(object, grace, now) },
  };
  if (object.kind === "Namespace") marked.status = { ...object.status, phase: "Terminating" };
  return isDue(marked) ? null : marked;
}

/** A first deletion sets the mark; a later one may only shorten the grace period. */
function mark(object: KubeObject, grace: number, now: number): Partial<KubeObject["metadata"]> {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, generation } = object.metadata;
  if (deletionTimestamp !== undefined) {
    if (grace >= deletionGracePeriodSeconds) return {};
    const requested = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
    return { deletionTimestamp: timestamp(requested + grace * 1000), deletionGracePeriodSeconds: grace };
  }
  return {
    deletionTimestamp: timestamp(now + grace * 1000),
    deletionGracePeriodSeconds: grace,
    // The mark is a wish about the object, and counts as one.
    ...(generation === undefined ? {} : { generation: generation + 1 }),
  };
}
