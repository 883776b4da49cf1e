import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { at, isObject, textOf, type KubeObject } from "../apiserver/object.js";
import type { Change } from "../apiserver/store.js";
import type { Handle } from "./handle.js";

const PROTECTION = "kubernetes.io/pvc-protection";

/**
 * Stands for a storage provisioner and the protection of claims in use: binds claims, and lets a deleted claim go only
 * when no pod uses it. With a root every claim has a folder of its own there, which goes with the claim's uid and is
 * never removed here. Faked: no PersistentVolume objects, no sizes, no access modes.
 */
export class Volumes implements Disposable {
  readonly #handle: Handle;
  readonly #root: string | undefined;
  readonly #subscription: Disposable;
  /** Claims that stay unbound while this says so. */
  holdsBack: (claim: KubeObject) => boolean = () => false;

  constructor(handle: Handle, root?: string) {
    this.#handle = handle;
    this.#root = root;
    this.#subscription = handle.registry.store.subscribe((change) => this.#notice(change));
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #claims(pod: KubeObject): { readonly volume: string; readonly claim: string }[] {
    const volumes = pod.spec?.["volumes"];
    if (!Array.isArray(volumes)) return [];
    return volumes.filter(isObject).flatMap((volume) => {
      const claim = textOf(at(volume, "persistentVolumeClaim.claimName"));
      return claim === "" ? [] : [{ volume: textOf(volume["name"]), claim }];
    });
  }

  #find(pod: KubeObject, claim: string): KubeObject | null {
    return this.#handle.find("persistentvolumeclaims", pod.metadata.namespace ?? "", claim);
  }

  /** The first claim of a pod that does not exist. */
  missingClaim(pod: KubeObject): string | null {
    return this.#claims(pod).find(({ claim }) => this.#find(pod, claim) === null)?.claim ?? null;
  }

  areBound(pod: KubeObject): boolean {
    return this.#claims(pod).every(({ claim }) => at(this.#find(pod, claim), "status.phase") === "Bound");
  }

  /** The folder of each claim of a pod by volume name; the claim's uid without a root. */
  folders(pod: KubeObject): Map<string, string> {
    return new Map(
      this.#claims(pod).map(({ volume, claim }) => [volume, this.folder(this.#find(pod, claim))]),
    );
  }

  folder(claim: KubeObject | null): string {
    const uid = claim?.metadata.uid ?? "";
    if (this.#root === undefined) return uid;
    const folder = join(this.#root, uid);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  #notice({ resource, object, deleted }: Change): void {
    const { namespace = "" } = object.metadata;
    if (resource === "persistentvolumeclaims" && !deleted)
      queueMicrotask(() => this.#settle(namespace, object.metadata.name));
    // A pod that ended or went may have been the last user of a claim that waits to go.
    if (resource === "pods") {
      queueMicrotask(() => {
        for (const { claim } of this.#claims(object)) this.#settle(namespace, claim);
      });
    }
  }

  #settle(namespace: string, name: string): void {
    const claim = this.#handle.find("persistentvolumeclaims", namespace, name);
    if (claim === null) return;
    const target = this.#handle.target("persistentvolumeclaims", namespace, name);
    if (claim.metadata.deletionTimestamp !== undefined) {
      if (this.#isUsed(namespace, name) || !(claim.metadata.finalizers ?? []).includes(PROTECTION)) return;
      this.#handle.registry.force(target, ({ metadata }) => {
        metadata.finalizers = (metadata.finalizers ?? []).filter((one) => one !== PROTECTION);
        if (metadata.finalizers.length === 0) Reflect.deleteProperty(metadata, "finalizers");
      });
    } else if (at(claim, "status.phase") !== "Bound" && !this.holdsBack(claim)) {
      this.#handle.registry.force(target, (object) => {
        object.spec = { ...object.spec, volumeName: `pvc-${claim.metadata.uid}` };
        object.status = { ...object.status, phase: "Bound", accessModes: claim.spec?.["accessModes"] ?? [] };
      });
    }
  }

  #isUsed(namespace: string, name: string): boolean {
    return this.#handle.list("pods", namespace).some((pod) => {
      const phase = at(pod, "status.phase");
      if (phase === "Succeeded" || phase === "Failed") return false;
      return this.#claims(pod).some(({ claim }) => claim === name);
    });
  }
}
