import type { Clock } from "slipway";
import { timestamp, type JsonObject, type KubeObject } from "../apiserver/object.js";
import type { Registry, Target } from "../apiserver/registry.js";

/** What components of a cluster share: direct access to the API's rules, past HTTP and its faults. */
export class Handle {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly #eventCounts = new Map<string, { name: string; count: number }>();
  #nextEvent = 1;

  constructor(registry: Registry, clock: Clock) {
    this.registry = registry;
    this.clock = clock;
  }

  /** The cluster's own time, as stamps carry it. */
  stamp(): string {
    return timestamp(this.registry.now());
  }

  target(storage: string, namespace: string, name: string): Target {
    return { resource: this.registry.stored(storage), namespace, name };
  }

  /** The object, or null if there is none. */
  find(storage: string, namespace: string, name: string): KubeObject | null {
    const stored = this.registry.store.get(storage, `${namespace}/${name}`);
    return stored && this.registry.stored(storage).fromStorage(stored);
  }

  /** All objects of a namespace, "" for all namespaces. */
  list(storage: string, namespace = ""): KubeObject[] {
    const { store } = this.registry;
    const prefix = namespace === "" ? "" : `${namespace}/`;
    return Array.from(store.list(storage, prefix, store.revision, ""), ([, object]) =>
      this.registry.stored(storage).fromStorage(object),
    );
  }

  /** Does this very object, not a successor of its name, still exist? */
  same(storage: string, object: KubeObject): KubeObject | null {
    const { name, namespace = "", uid } = object.metadata;
    const found = this.find(storage, namespace, name);
    return found?.metadata.uid === uid ? found : null;
  }

  create(storage: string, namespace: string, object: object): KubeObject {
    return this.registry.create(this.target(storage, namespace, ""), object);
  }

  delete(storage: string, object: KubeObject, gracePeriodSeconds?: number): void {
    const { name, namespace = "", uid } = object.metadata;
    this.registry.delete(this.target(storage, namespace, name), {
      gracePeriodSeconds,
      preconditions: { uid },
    });
  }

  /** Writes an Event, or raises the count of the same one. */
  event(
    about: KubeObject,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
    component: string,
  ): void {
    const { name, namespace = "default", uid } = about.metadata;
    const key = `${uid} ${reason} ${message}`;
    const known = this.#eventCounts.get(key);
    const lastTimestamp = this.stamp();
    if (known !== undefined && this.find("events", namespace, known.name) !== null) {
      known.count += 1;
      this.registry.force(this.target("events", namespace, known.name), (event) => {
        Object.assign(event, { count: known.count, lastTimestamp });
      });
      return;
    }
    const eventName = `${name}.${(this.#nextEvent++).toString(16).padStart(16, "0")}`;
    this.#eventCounts.set(key, { name: eventName, count: 1 });
    const involvedObject = { apiVersion: about.apiVersion, kind: about.kind, name, namespace, uid };
    const times = { firstTimestamp: lastTimestamp, lastTimestamp, count: 1 };
    const event: JsonObject = {
      metadata: { name: eventName, namespace },
      involvedObject,
      type,
      reason,
      message,
    };
    // A namespace that is being deleted takes no events, and a real recorder lets it be.
    if (this.find("namespaces", "", namespace)?.metadata.deletionTimestamp !== undefined) return;
    this.create("events", namespace, { ...event, ...times, source: { component } });
  }
}
