import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "./object.js";

/** One write, as watches see it. Objects are in the storage version and carry their resource version. */
export interface Change {
  readonly revision: number;
  readonly resource: string;
  readonly object: KubeObject;
  /** What stood there before; null for a creation. */
  readonly previous: KubeObject | null;
  readonly deleted: boolean;
}

interface Version {
  readonly revision: number;
  readonly object: KubeObject | null;
}

interface Shelf {
  /** Keys (`namespace/name`) in order, deleted ones included until their history is compacted. */
  readonly keys: string[];
  readonly versions: Map<string, Version[]>;
}

/**
 * All objects with their history: one counter numbers every write of every resource, old states stay readable until
 * they are compacted, as in etcd.
 */
export class Store {
  #revision: number;
  #compacted: number;
  readonly #shelves = new Map<string, Shelf>();
  #log: Change[] = [];
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #historyLimit: number;
  #notifying = false;

  constructor(initialRevision: number, historyLimit: number) {
    this.#revision = initialRevision;
    this.#compacted = initialRevision;
    this.#historyLimit = historyLimit;
  }

  /** The revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** States before this revision can no longer be read. */
  get compacted(): number {
    return this.#compacted;
  }

  get historyLength(): number {
    return this.#log.length;
  }

  get(resource: string, key: string): KubeObject | null {
    const versions = this.#shelves.get(resource)?.versions.get(key);
    return versions?.at(-1)?.object ?? null;
  }

  /** The objects as of `revision` in the order of their keys, from behind `after`, under `prefix`. */
  *list(resource: string, prefix: string, revision: number, after: string): Iterable<[string, KubeObject]> {
    const shelf = this.#shelves.get(resource);
    if (shelf === undefined) return;
    const from = after > prefix ? after : prefix;
    for (let place = lowerBound(shelf.keys, from); place < shelf.keys.length; place += 1) {
      const key = shelf.keys[place];
      if (key === undefined || !key.startsWith(prefix)) return;
      if (key === after) continue;
      const object = shelf.versions.get(key)?.findLast((version) => version.revision <= revision)?.object;
      if (object) yield [key, object];
    }
  }

  /** Writes one object, or deletes it with `null`. A write that changes nothing keeps its version. */
  write(resource: string, key: string, object: KubeObject | null): KubeObject {
    const previous = this.get(resource, key);
    if (object === null) {
      if (previous === null) throw new Error(`deletion of what is not there: ${resource} ${key}`);
      return this.#append(resource, key, previous, previous, true);
    }
    if (previous !== null && isDeepStrictEqual(withVersion(object, "0"), withVersion(previous, "0")))
      return previous;
    return this.#append(resource, key, object, previous, false);
  }

  #append(
    resource: string,
    key: string,
    object: KubeObject,
    previous: KubeObject | null,
    deleted: boolean,
  ): KubeObject {
    this.#revision += 1;
    const revision = this.#revision;
    const stamped = withVersion(object, String(revision));
    let shelf = this.#shelves.get(resource);
    if (shelf === undefined) {
      shelf = { keys: [], versions: new Map() };
      this.#shelves.set(resource, shelf);
    }
    let versions = shelf.versions.get(key);
    if (versions === undefined) {
      versions = [];
      shelf.versions.set(key, versions);
      shelf.keys.splice(lowerBound(shelf.keys, key), 0, key);
    }
    versions.push({ revision, object: deleted ? null : stamped });
    const change = { revision, resource, object: stamped, previous, deleted };
    this.#log.push(change);
    this.#notify(change);
    if (this.#log.length > 2 * this.#historyLimit) {
      this.compact(this.#log.at(-this.#historyLimit)?.revision ?? this.#revision);
    }
    return stamped;
  }

  #notify(change: Change): void {
    if (this.#notifying)
      throw new Error("a listener of the store wrote to it: watches would see writes out of order");
    this.#notifying = true;
    try {
      for (const listener of [...this.#listeners]) listener(change);
    } finally {
      this.#notifying = false;
    }
  }

  /** Every write after `revision`, in order. */
  since(revision: number): Change[] {
    return this.#log.slice(this.#log.findLastIndex((change) => change.revision <= revision) + 1);
  }

  /** Calls back synchronously with every write until disposed. */
  subscribe(listener: (change: Change) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Forgets every state before `revision`: reads and watches from earlier ones are expired from now on. */
  compact(revision: number): void {
    const to = Math.min(revision, this.#revision);
    if (to <= this.#compacted) return;
    this.#compacted = to;
    const touched = new Map<string, Set<string>>();
    const kept: Change[] = [];
    for (const change of this.#log) {
      const keys = touched.get(change.resource) ?? new Set();
      keys.add(keyOf(change.object));
      touched.set(change.resource, keys);
      if (change.revision > to) kept.push(change);
    }
    this.#log = kept;
    for (const [resource, keys] of touched) for (const key of keys) this.#trim(resource, key, to);
  }

  #trim(resource: string, key: string, to: number): void {
    const shelf = this.#shelves.get(resource);
    const versions = shelf?.versions.get(key);
    if (shelf === undefined || versions === undefined) return;
    const last = versions.findLastIndex((version) => version.revision <= to);
    if (last > 0) versions.splice(0, last);
    if (versions.length > 1 || versions[0]?.object !== null) return;
    shelf.versions.delete(key);
    shelf.keys.splice(lowerBound(shelf.keys, key), 1);
  }
}

export function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

function withVersion(object: KubeObject, resourceVersion: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
