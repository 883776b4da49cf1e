import { FOREGROUND, ORPHAN } from "./deletion.js";
import type { KubeObject } from "./object.js";
import type { Registry, Target } from "./registry.js";
import { keyOf, type Change } from "./store.js";

interface Node {
  readonly storage: string;
  readonly object: KubeObject;
}

/**
 * Stands for the garbage collector of kube-controller-manager: removes what has lost its owners, waits for the
 * dependents of a foreground deletion, frees those of an orphaning one. It works after the write that calls for it,
 * never within it.
 */
export class GarbageCollector implements Disposable {
  readonly #registry: Registry;
  readonly #later: (work: () => void) => void;
  /** Everything that lives, by uid. */
  readonly #nodes = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #subscription: Disposable;

  /** `later` calls back after the current write, at once or after a while. */
  constructor(registry: Registry, later: (work: () => void) => void) {
    this.#registry = registry;
    this.#later = later;
    this.#subscription = registry.store.subscribe((change) => this.#notice(change));
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #notice({ resource, object, previous, deleted }: Change): void {
    const { uid } = object.metadata;
    for (const owner of previous?.metadata.ownerReferences ?? [])
      this.#dependents.get(owner.uid)?.delete(uid);
    if (deleted) this.#nodes.delete(uid);
    else {
      this.#nodes.set(uid, { storage: resource, object });
      for (const owner of object.metadata.ownerReferences ?? []) {
        const known = this.#dependents.get(owner.uid) ?? new Set();
        this.#dependents.set(owner.uid, known.add(uid));
      }
    }
    const owners = [
      ...(object.metadata.ownerReferences ?? []),
      ...(previous?.metadata.ownerReferences ?? []),
    ];
    const marked = object.metadata.deletionTimestamp !== undefined;
    if (owners.length === 0 && !deleted && !marked) return;
    this.#later(() => {
      if (deleted) for (const dependent of this.#dependentsOf(uid)) this.#consider(dependent);
      else this.#attend(uid);
      for (const owner of owners) this.#attend(owner.uid);
    });
  }

  #dependentsOf(uid: string): string[] {
    return [...(this.#dependents.get(uid) ?? [])];
  }

  /** Looks at one living object: as a dependent of others, and as an owner that waits for its dependents. */
  #attend(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node === undefined) return;
    const { deletionTimestamp, finalizers = [] } = node.object.metadata;
    if (deletionTimestamp === undefined) this.#consider(uid);
    else if (finalizers.includes(ORPHAN)) this.#orphan(node);
    else if (finalizers.includes(FOREGROUND)) this.#foreground(node);
  }

  #consider(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node === undefined || node.object.metadata.deletionTimestamp !== undefined) return;
    const references = node.object.metadata.ownerReferences ?? [];
    if (references.length === 0) return;
    const alive = references.filter((reference) => this.#isOwner(reference.uid, node.object));
    const solid = alive.filter((reference) => !this.#isWaiting(reference.uid));
    if (solid.length > 0) {
      if (solid.length < references.length) this.#keepOwners(node, new Set(solid.map((owner) => owner.uid)));
      return;
    }
    const deep = alive.length > 0 && this.#dependentsOf(uid).length > 0;
    const finalizers = node.object.metadata.finalizers ?? [];
    const own = finalizers.includes(ORPHAN)
      ? "Orphan"
      : finalizers.includes(FOREGROUND)
        ? "Foreground"
        : "Background";
    this.#registry.delete(this.#target(node), {
      preconditions: { uid },
      propagationPolicy: deep ? "Foreground" : own,
    });
  }

  /** A namespaced owner counts only in the dependent's own namespace. */
  #isOwner(uid: string, dependent: KubeObject): boolean {
    const owner = this.#nodes.get(uid)?.object;
    if (owner === undefined) return false;
    return (
      owner.metadata.namespace === undefined || owner.metadata.namespace === dependent.metadata.namespace
    );
  }

  #isWaiting(uid: string): boolean {
    const meta = this.#nodes.get(uid)?.object.metadata;
    return meta?.deletionTimestamp !== undefined && (meta.finalizers ?? []).includes(FOREGROUND);
  }

  #foreground(owner: Node): void {
    const { uid } = owner.object.metadata;
    const dependents = this.#dependentsOf(uid);
    for (const dependent of dependents) this.#consider(dependent);
    const blocks = (dependent: string): boolean =>
      (this.#nodes.get(dependent)?.object.metadata.ownerReferences ?? []).some(
        (reference) => reference.uid === uid && reference.blockOwnerDeletion === true,
      );
    if (!this.#dependentsOf(uid).some(blocks)) this.#dropFinalizer(owner, FOREGROUND);
  }

  #orphan(owner: Node): void {
    const { uid } = owner.object.metadata;
    for (const dependent of this.#dependentsOf(uid)) {
      const node = this.#nodes.get(dependent);
      const others = (node?.object.metadata.ownerReferences ?? []).filter(
        (reference) => reference.uid !== uid,
      );
      if (node) this.#keepOwners(node, new Set(others.map((reference) => reference.uid)));
    }
    this.#dropFinalizer(owner, ORPHAN);
  }

  #keepOwners(node: Node, kept: ReadonlySet<string>): void {
    this.#registry.force(this.#target(node), ({ metadata }) => {
      const left = (metadata.ownerReferences ?? []).filter((reference) => kept.has(reference.uid));
      if (left.length > 0) metadata.ownerReferences = left;
      else Reflect.deleteProperty(metadata, "ownerReferences");
    });
  }

  #dropFinalizer(node: Node, finalizer: string): void {
    this.#registry.force(this.#target(node), ({ metadata }) => {
      metadata.finalizers = (metadata.finalizers ?? []).filter((one) => one !== finalizer);
      if (metadata.finalizers.length === 0) Reflect.deleteProperty(metadata, "finalizers");
    });
  }

  #target({ storage, object }: Node): Target {
    const key = keyOf(object);
    return {
      resource: this.#registry.stored(storage),
      namespace: key.slice(0, key.indexOf("/")),
      name: object.metadata.name,
    };
  }
}
