import type { ServerResponse } from "node:http";
import { apiVersion, type Resource } from "./resource.js";
import { parseVersion } from "./paging.js";
import type { KubeObject } from "./object.js";
import type { Predicate } from "./selectors.js";
import { expired, invalidOptions, storageError } from "./status.js";
import type { Change, Store } from "./store.js";

export interface WatchQuery {
  readonly resourceVersion: string;
  readonly match: string;
  readonly bookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/** Unsent bytes at which a watcher that does not read is cut off, so that it cannot fill the memory. */
const BACKLOG_LIMIT = 64 * 1024 * 1024;

/** One open watch: writes a line of JSON for every event. */
export class Watch {
  readonly resource: Resource;
  readonly user: string;
  readonly #store: Store;
  readonly #prefix: string;
  readonly #wanted: Predicate;
  readonly #query: WatchQuery;
  readonly #response: ServerResponse;
  #subscription: Disposable | undefined;
  /** The revision up to which this watch is complete. */
  #seen = 0;

  constructor(
    store: Store,
    resource: Resource,
    prefix: string,
    wanted: Predicate,
    query: WatchQuery,
    response: ServerResponse,
    user: string,
  ) {
    this.#store = store;
    this.resource = resource;
    this.#prefix = prefix;
    this.#wanted = wanted;
    this.#query = query;
    this.#response = response;
    this.user = user;
    checkQuery(query);
  }

  start(): void {
    const { resourceVersion, sendInitialEvents } = this.#query;
    const newest = resourceVersion === "" || resourceVersion === "0";
    const from = newest ? this.#store.revision : parseVersion(resourceVersion);
    this.#response.writeHead(200, { "content-type": "application/json", "transfer-encoding": "chunked" });
    this.#response.flushHeaders();
    const initial = sendInitialEvents ?? newest;
    if (initial) {
      const now = this.#store.revision;
      for (const [, object] of this.#store.list(this.resource.storage, this.#prefix, now, "")) {
        if (this.#wanted(object)) this.#event("ADDED", object);
      }
      this.#seen = now;
      if (sendInitialEvents === true) this.bookmark({ "k8s.io/initial-events-end": "true" });
    } else if (from < this.#store.compacted) {
      this.fail(expired(`too old resource version: ${from} (${this.#store.compacted})`).body());
      return;
    } else {
      this.#seen = from;
      for (const change of this.#store.since(from)) this.#change(change);
    }
    this.#subscription = this.#store.subscribe((change) => this.#change(change));
  }

  /** Ends as a server does whose time for this watch is over: the stream closes in good order. */
  end(): void {
    this.#subscription?.[Symbol.dispose]();
    this.#response.end();
  }

  /** Sends one ERROR event and ends. */
  fail(status: unknown): void {
    this.#line("ERROR", status);
    this.end();
  }

  /** Ends without a closing chunk: the client sees the connection break. */
  cut(): void {
    this.#subscription?.[Symbol.dispose]();
    this.#response.destroy();
  }

  bookmark(annotations?: Record<string, string>): void {
    if (!this.#query.bookmarks) return;
    this.#seen = Math.max(this.#seen, this.#store.revision);
    this.#line("BOOKMARK", {
      kind: this.resource.kind,
      apiVersion: apiVersion(this.resource),
      metadata: {
        resourceVersion: String(this.#seen),
        creationTimestamp: null,
        ...(annotations ? { annotations } : {}),
      },
    });
  }

  #change({ resource, object, previous, deleted, revision }: Change): void {
    if (resource !== this.resource.storage || revision <= this.#seen) return;
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    this.#seen = revision;
    if (!key.startsWith(this.#prefix)) return;
    const was = previous !== null && this.#wanted(previous);
    const is = !deleted && this.#wanted(object);
    if (is) this.#event(was ? "MODIFIED" : "ADDED", object);
    // Out of the selector is deleted for this watcher: it gets the last state that it knew, with the new version.
    else if (was)
      this.#event("DELETED", {
        ...previous,
        metadata: { ...previous.metadata, resourceVersion: String(revision) },
      });
  }

  #event(type: string, stored: KubeObject): void {
    this.#line(type, this.resource.fromStorage(stored));
  }

  #line(type: string, object: unknown): void {
    if (this.#response.destroyed) return;
    this.#response.write(`${JSON.stringify({ type, object })}\n`);
    if (this.#response.writableLength > BACKLOG_LIMIT) this.cut();
  }
}

function checkQuery({ resourceVersion, match, sendInitialEvents }: WatchQuery): void {
  const refuse = (message: string): Error =>
    invalidOptions("ListOptions", "resourceVersionMatch", `Forbidden: ${message}`);
  if (sendInitialEvents === undefined && match !== "") {
    throw refuse("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    throw refuse("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (resourceVersion !== "" && !/^\d+$/.test(resourceVersion)) {
    throw storageError(`strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`);
  }
}
