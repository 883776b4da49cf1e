import { keyOf, type Change } from "./store.js";
import type { Registry } from "./registry.js";

/**
 * Stands for the namespace controller of kube-controller-manager: empties a namespace that is being deleted, then lets
 * it go.
 */
export class NamespaceController implements Disposable {
  readonly #registry: Registry;
  readonly #later: (work: () => void) => void;
  readonly #terminating = new Set<string>();
  readonly #subscription: Disposable;

  constructor(registry: Registry, later: (work: () => void) => void) {
    this.#registry = registry;
    this.#later = later;
    this.#subscription = registry.store.subscribe((change) => this.#notice(change));
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #notice({ resource, object, deleted }: Change): void {
    const { name, namespace = "", deletionTimestamp } = object.metadata;
    if (resource === "namespaces") {
      if (deleted) this.#terminating.delete(name);
      else if (deletionTimestamp !== undefined) {
        this.#terminating.add(name);
        this.#later(() => this.#empty(name));
      }
    } else if (deleted && this.#terminating.has(namespace)) this.#later(() => this.#empty(namespace));
  }

  #empty(namespace: string): void {
    if (!this.#terminating.has(namespace)) return;
    let left = 0;
    const storages = new Set(
      this.#registry.resources.filter((one) => one.namespaced).map((one) => one.storage),
    );
    for (const storage of storages) {
      const resource = this.#registry.stored(storage);
      const objects = [
        ...this.#registry.store.list(storage, `${namespace}/`, this.#registry.store.revision, ""),
      ];
      for (const [, object] of objects) {
        const target = { resource, namespace, name: object.metadata.name };
        if (object.metadata.deletionTimestamp !== undefined) left += 1;
        else if (this.#registry.delete(target).left !== null) left += 1;
      }
    }
    if (left > 0) return;
    const room = this.#registry.store.get("namespaces", `/${namespace}`);
    if (room === null) return;
    this.#registry.force(
      { resource: this.#registry.stored("namespaces"), namespace: "", name: keyOf(room).slice(1) },
      (object) => {
        object.spec = { ...object.spec, finalizers: [] };
      },
    );
  }
}
