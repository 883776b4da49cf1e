import {
  at,
  isObject,
  textOf,
  type Json,
  type JsonObject,
  type KubeObject,
  type OwnerReference,
} from "../apiserver/object.js";
import { MERGE_PATCH } from "../apiserver/patch.js";
import type { Change } from "../apiserver/store.js";
import { apiVersion, type Resource } from "../apiserver/resource.js";
import type { Handle } from "./handle.js";
import { RELEASES, type Release, type ReleaseTraits } from "./releases.js";
import { sandboxStatus } from "./sandbox-status.js";

export const SANDBOXES = "sandboxes.agents.x-k8s.io";
export const HASH_LABEL = "agents.x-k8s.io/sandbox-name-hash";

export interface SandboxControllerOptions {
  readonly handle: Handle;
  /** A release, or the traits of one that is not listed. */
  readonly release: Release | ReleaseTraits;
  /** How long after a change it takes it up. Default 0: after the write, in the same turn. */
  readonly delayMs?: number;
  /** For the order in which it takes up what it finds at a start. */
  readonly random: () => number;
}

/**
 * Stands for the agent-sandbox controller in its releases: makes pod, claims and service of a sandbox, deletes the pod
 * of a suspended one, publishes conditions with that release's reasons and quirks.
 *
 * Faked: it works past HTTP, one sandbox at a time, without a cache that lags; no warm pools, templates, tracing or
 * network policies. Its texts are its own; types, statuses and reasons are the release's.
 */
export class SandboxController implements Disposable {
  readonly #handle: Handle;
  readonly #traits: ReleaseTraits;
  readonly #options: SandboxControllerOptions;
  readonly #queued = new Set<string>();
  readonly #expiries = new Map<string, Disposable>();
  #subscription: Disposable | undefined;
  /** An error that every reconcile meets until it is cleared: the API server's or a dependency's. */
  failure: string | null = null;

  constructor(options: SandboxControllerOptions) {
    this.#options = options;
    this.#handle = options.handle;
    this.#traits = typeof options.release === "string" ? RELEASES[options.release] : options.release;
    this.start();
  }

  /** Starts, or starts again after `stop`: takes up every sandbox, in any order. */
  start(): void {
    if (this.#subscription !== undefined) return;
    this.#subscription = this.#handle.registry.store.subscribe((change) => this.#notice(change));
    const all = this.#handle.list(SANDBOXES).map((sandbox) => ({ sandbox, order: this.#options.random() }));
    all.sort((one, two) => one.order - two.order);
    for (const { sandbox } of all) this.#enqueue(sandbox.metadata.namespace ?? "", sandbox.metadata.name);
  }

  /** Stops noticing anything, as a controller that is down. */
  stop(): void {
    this.#subscription?.[Symbol.dispose]();
    this.#subscription = undefined;
    this.#queued.clear();
    for (const expiry of this.#expiries.values()) expiry[Symbol.dispose]();
    this.#expiries.clear();
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  #notice({ resource, object }: Change): void {
    const { namespace = "", name } = object.metadata;
    if (resource === SANDBOXES) this.#enqueue(namespace, name);
    const owner = object.metadata.ownerReferences?.find((one) => one.kind === "Sandbox");
    if (owner !== undefined) this.#enqueue(namespace, owner.name);
  }

  #enqueue(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    if (this.#queued.has(key)) return;
    this.#queued.add(key);
    const work = (): void => {
      if (this.#queued.delete(key)) this.#reconcile(namespace, name);
    };
    const { delayMs = 0 } = this.#options;
    const { clock } = this.#handle;
    if (delayMs === 0) queueMicrotask(work);
    else clock.schedule(clock.now() + delayMs, work, { unref: true });
  }

  #resource(): Resource {
    const found = this.#handle.registry.find("agents.x-k8s.io", this.#traits.version, "sandboxes");
    if (found === undefined) throw new Error(`the cluster serves no sandboxes as ${this.#traits.version}`);
    return found;
  }

  #reconcile(namespace: string, name: string): void {
    const stored = this.#handle.registry.store.get(SANDBOXES, `${namespace}/${name}`);
    // Nothing is done for one that is being deleted: its conditions freeze.
    if (stored === null || stored.metadata.deletionTimestamp !== undefined) return;
    const sandbox = this.#resource().fromStorage(stored);
    const running =
      this.#traits.version === "v1alpha1"
        ? sandbox.spec?.["replicas"] !== 0
        : sandbox.spec?.["operatingMode"] !== "Suspended";
    if (this.#isExpired(sandbox)) this.#expire(sandbox);
    else if (this.failure === null) this.#children(sandbox, running);
    if (this.#handle.same(SANDBOXES, stored) !== null) this.#publish(sandbox, running);
  }

  #isExpired(sandbox: KubeObject): boolean {
    const time = Date.parse(textOf(sandbox.spec?.["shutdownTime"]));
    if (Number.isNaN(time)) return false;
    const left = time - this.#handle.registry.now();
    if (left <= 0) return true;
    const { uid, namespace = "", name } = sandbox.metadata;
    const { clock } = this.#handle;
    this.#expiries.get(uid)?.[Symbol.dispose]();
    this.#expiries.set(
      uid,
      clock.schedule(clock.now() + left, () => this.#enqueue(namespace, name), { unref: true }),
    );
    return false;
  }

  #expire(sandbox: KubeObject): void {
    const { namespace = "", name } = sandbox.metadata;
    for (const storage of ["pods", "services"]) {
      const child = this.#handle.find(storage, namespace, name);
      if (child !== null && this.#owns(sandbox, child)) this.#handle.delete(storage, child);
    }
    if (sandbox.spec?.["shutdownPolicy"] === "Delete") this.#handle.delete(SANDBOXES, sandbox);
  }

  #owns(sandbox: KubeObject, child: KubeObject): boolean {
    return (child.metadata.ownerReferences ?? []).some((owner) => owner.uid === sandbox.metadata.uid);
  }

  #children(sandbox: KubeObject, running: boolean): void {
    const { namespace = "", name } = sandbox.metadata;
    for (const template of claimTemplates(sandbox)) {
      const claim = `${template.name}-${name}`;
      if (this.#handle.find("persistentvolumeclaims", namespace, claim) !== null) continue;
      const metadata = { name: claim, namespace, ownerReferences: [this.#reference(sandbox)] };
      this.#handle.create("persistentvolumeclaims", namespace, { metadata, spec: template.spec });
    }
    const pod = this.#handle.find("pods", namespace, name);
    if (running && pod === null) this.#handle.create("pods", namespace, this.#pod(sandbox));
    if (
      !running &&
      pod !== null &&
      this.#owns(sandbox, pod) &&
      pod.metadata.deletionTimestamp === undefined
    ) {
      this.#handle.delete("pods", pod);
    }
    const wanted = this.#traits.alwaysService || sandbox.spec?.["service"] === true;
    if (wanted && this.#handle.find("services", namespace, name) === null) {
      const labels = { [HASH_LABEL]: nameHash(name) };
      const metadata = { name, namespace, labels, ownerReferences: [this.#reference(sandbox)] };
      this.#handle.create("services", namespace, { metadata, spec: { clusterIP: "None", selector: labels } });
    }
  }

  #reference({ metadata }: KubeObject): OwnerReference {
    const owner = {
      apiVersion: apiVersion(this.#resource()),
      kind: "Sandbox",
      name: metadata.name,
      uid: metadata.uid,
    };
    return { ...owner, controller: true, blockOwnerDeletion: true };
  }

  #pod(sandbox: KubeObject): object {
    const { name, namespace } = sandbox.metadata;
    const template = sandbox.spec?.["podTemplate"];
    const meta = isObject(template) && isObject(template["metadata"]) ? template["metadata"] : {};
    const spec = isObject(template) && isObject(template["spec"]) ? template["spec"] : {};
    const own = Array.isArray(spec["volumes"]) ? spec["volumes"] : [];
    const volumes = claimTemplates(sandbox).map((claim) => ({
      name: claim.name,
      persistentVolumeClaim: { claimName: `${claim.name}-${name}` },
    }));
    return {
      metadata: {
        name,
        namespace,
        labels: { ...(meta["labels"] as object | undefined), [HASH_LABEL]: nameHash(name) },
        annotations: meta["annotations"] ?? {},
        ownerReferences: [this.#reference(sandbox)],
      },
      spec: { ...spec, volumes: [...own, ...volumes] },
    };
  }

  #publish(sandbox: KubeObject, running: boolean): void {
    const { namespace = "", name } = sandbox.metadata;
    const pod = this.#handle.find("pods", namespace, name);
    const seen = {
      sandbox,
      running,
      pod,
      podOwned: pod !== null && this.#owns(sandbox, pod),
      owned: this.#handle.list("pods", namespace).filter((one) => this.#owns(sandbox, one)).length,
      hasService: this.#handle.find("services", namespace, name) !== null,
      error: this.failure,
      expired: this.#isExpired(sandbox),
      selector: `${HASH_LABEL}=${nameHash(name)}`,
    };
    const status = sandboxStatus(this.#traits, seen, this.#handle.stamp());
    // A merge patch: what is no longer published is removed by null.
    const gone = Object.keys(sandbox.status ?? {}).filter(
      (field) => !(field in status) && field !== "replicas",
    );
    const patch: JsonObject = { ...status, ...Object.fromEntries(gone.map((field) => [field, null])) };
    if (this.#traits.version === "v1alpha1") patch["replicas"] = status["replicas"] ?? null;
    const target = { resource: this.#resource(), namespace, name, subresource: "status" as const };
    this.#handle.registry.patch(target, MERGE_PATCH, { status: patch });
  }
}

function claimTemplates(sandbox: KubeObject): { readonly name: string; readonly spec: Json }[] {
  const templates = sandbox.spec?.["volumeClaimTemplates"];
  if (!Array.isArray(templates)) return [];
  return templates.map((template) => ({
    name: textOf(at(template, "metadata.name")),
    spec: at(template, "spec") as Json,
  }));
}

/** FNV-1a over the name, 32 bits: two names may share one, as with the real label. */
export function nameHash(name: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
