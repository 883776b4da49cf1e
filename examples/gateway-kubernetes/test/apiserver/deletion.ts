import { at, timestamp, without, type KubeObject } from "./object.js";
import type { Resource } from "./resource.js";
import { badRequest, conflict } from "./status.js";

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
  if (uid !== undefined && uid !== ownUid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${ownUid}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== ownVersion) {
    const told = `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${ownVersion ?? ""}`;
    throw conflict(resource, name, `Precondition failed: ${told}`);
  }
}

function finalizersFor(object: KubeObject, options: DeleteOptions): string[] {
  const own = object.metadata.finalizers ?? [];
  const { propagationPolicy, orphanDependents } = options;
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    throw badRequest("orphanDependents and propagationPolicy cannot be both set");
  }
  if (
    propagationPolicy !== undefined &&
    !["Orphan", "Background", "Foreground"].includes(propagationPolicy)
  ) {
    throw badRequest(
      `propagationPolicy: Unsupported value: "${propagationPolicy}": supported values: "Background", "Foreground", "Orphan"`,
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
  const asked = options.gracePeriodSeconds;
  if (asked !== undefined && (!Number.isInteger(asked) || asked < 0)) {
    throw badRequest(`gracePeriodSeconds: Invalid value: ${asked}: must be a whole number of seconds`);
  }
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
