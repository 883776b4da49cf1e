import type { SandboxRef } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import type { WatchEvent } from "slipway/phase";
import { isGone, isStatus } from "../api/api-error.js";
import { getObject } from "../api/get-object.js";
import type { KubeClient } from "../api/kube-client.js";
import { listAll, listPage } from "../api/list-pages.js";
import { resourceVersionOf, textAt, uidOf, type Plain } from "../api/plain.js";
import { Reflector } from "../api/reflector.js";
import { GATEWAY_LABEL, SANDBOX_LABEL } from "../resource/names.js";
import { discoverVersion, SANDBOX_GROUP, type SandboxVersion } from "../resource/sandbox-api.js";
import type { SandboxSettings } from "../resource/sandbox-settings.js";
import { Listings } from "./listings.js";
import { NewsQueue, NewsSink } from "./news.js";
import type { Seen } from "./observe.js";

export interface SandboxObjectsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
  readonly settings: SandboxSettings;
  /** Absent: what the server has is found out at the first request. */
  readonly version?: SandboxVersion | undefined;
  readonly pageSize?: number | undefined;
}

export interface SeenSandbox extends Seen {
  readonly id: string;
}

const PAGE_SIZE = 500;

/** The custom resources of this gateway and their pods, as the API server has them. */
export class SandboxObjects {
  readonly settings: SandboxSettings;
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #random: (() => number) | undefined;
  readonly #pageSize: number;
  readonly #listings = new Listings();
  readonly #asked: SandboxVersion | null;
  #version: SandboxVersion | null;

  constructor(options: SandboxObjectsOptions) {
    this.settings = options.settings;
    this.#client = options.client;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#pageSize = options.pageSize ?? PAGE_SIZE;
    this.#asked = options.version ?? null;
    this.#version = this.#asked;
  }

  async version(signal: AbortSignal): Promise<SandboxVersion> {
    this.#version ??= await discoverVersion(this.#client, signal);
    return this.#version;
  }

  /** The resource of this name, whoever it belongs to; `null` when the server says that there is none. */
  async get(name: string, signal: AbortSignal): Promise<Plain | null> {
    const collection = await this.#path(signal);
    return getObject(this.#client, collection, name, signal).catch((error: unknown) => {
      // Not served, or no longer: what is served is found out anew the next time.
      if (isStatus(error, 404)) this.#version = this.#asked;
      throw error;
    });
  }

  async create(sandbox: Plain, signal: AbortSignal): Promise<Plain> {
    return this.#client.create(await this.#path(signal), sandbox, { signal });
  }

  /** Changes the resource if it still is what was read; 409 when it is not. */
  async patch(read: Plain, name: string, change: Plain, signal: AbortSignal): Promise<Plain> {
    const metadata = {
      ...(change["metadata"] as Plain | undefined),
      resourceVersion: resourceVersionOf(read),
    };
    return this.#client.patch(`${await this.#path(signal)}/${name}`, { ...change, metadata }, { signal });
  }

  /**
   * Removes this very resource, and by the cluster's garbage collection all that it owns, the workspace included. It
   * stays, marked, until all of that is gone: a successor of its name finds no pod and no claim of this one.
   */
  async delete(read: Plain, name: string, signal: AbortSignal): Promise<void> {
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Foreground",
      preconditions: { uid: uidOf(read) },
    };
    await this.#client.delete(`${await this.#path(signal)}/${name}`, body, { signal });
  }

  /** The pods that carry the sandbox's mark. Whose they are is read from their owner. */
  async pods(id: string, signal: AbortSignal): Promise<readonly Plain[]> {
    return this.#pods(`${SANDBOX_LABEL}=${id}`, signal);
  }

  /** Resource and pods of one sandbox. A resource of somebody else under its name is not there. */
  async look({ id, name }: SandboxRef, signal: AbortSignal): Promise<Seen> {
    const observedAt = this.#clock.now();
    const found = await this.get(name, signal);
    const sandbox = textAt(found, "metadata", "labels", SANDBOX_LABEL) === id ? found : null;
    const pods = sandbox === null ? null : await this.pods(id, signal);
    const error = sandbox === null ? { status: 404 } : undefined;
    return { sandbox, pods, error, observedAt, skewMs: this.#client.skewFrom(this.#clock) };
  }

  /**
   * A page of all resources of this gateway. The pods are listed first, so that what is said to be absent was absent
   * after the listing began.
   */
  async list(
    cursor: string | null,
    signal: AbortSignal,
  ): Promise<{ items: SeenSandbox[]; cursor: string | null }> {
    const resumed = cursor === null ? null : this.#listings.resume(cursor);
    if (cursor !== null && resumed === null)
      throw new Error("The listing is no longer known: begin a new one");
    const begunAt = this.#clock.now();
    const listing = resumed?.listing ?? this.#listings.begin(await this.#pods(this.#mark, signal), begunAt);
    const request = {
      path: await this.#path(signal),
      query: { labelSelector: this.#mark },
      pageSize: this.#pageSize,
    };
    const page = await listPage(this.#client, request, resumed?.from ?? null, signal).catch(
      (error: unknown) => {
        // Too old to go on with. In one piece it cannot grow old, and seeing some twice does no harm.
        if (isGone(error) && resumed !== null)
          return listPage(this.#client, { ...request, pageSize: 0 }, null, signal);
        throw error;
      },
    );
    const items = page.items.flatMap((sandbox) => {
      const id = textAt(sandbox, "metadata", "labels", SANDBOX_LABEL);
      const pods = listing.podsOf.get(uidOf(sandbox)) ?? [];
      return id === null
        ? []
        : [{ id, sandbox, pods, observedAt: listing.begunAt, skewMs: this.#client.skewFrom(this.#clock) }];
    });
    return { items, cursor: this.#listings.cursor(listing, page.next) };
  }

  /**
   * News of resources and pods, for as long as they are read; breaks are mended without being told.
   *
   * @param onEvent - Told of each at once, before it waits to be read.
   */
  async *watch(signal: AbortSignal, onEvent: (event: WatchEvent) => void): AsyncGenerator<WatchEvent> {
    const news = new NewsQueue(this.#clock);
    const ended = new AbortController();
    const end = (): void => ended.abort(signal.reason);
    if (signal.aborted) return;
    signal.addEventListener("abort", end, { once: true });
    try {
      const path = await this.#path(ended.signal);
      const tell = (event: WatchEvent): void => {
        onEvent(event);
        news.push(event);
      };
      this.#follow(path, new NewsSink("deleted", tell), ended.signal);
      this.#follow(this.#podsPath, new NewsSink("changed", tell), ended.signal);
      yield* news.read(ended.signal);
    } finally {
      signal.removeEventListener("abort", end);
      ended.abort(new Error("the watch was left"));
    }
  }

  #follow(path: string, sink: NewsSink, signal: AbortSignal): void {
    const query = { labelSelector: this.#mark };
    const reflector = new Reflector({
      client: this.#client,
      clock: this.#clock,
      random: this.#random,
      path,
      query,
      sink,
      pageSize: this.#pageSize,
    });
    void reflector.run(signal);
  }

  async #pods(labelSelector: string, signal: AbortSignal): Promise<readonly Plain[]> {
    let pods: Plain[] = [];
    const take = {
      restart: () => {
        pods = [];
      },
      page: (items: readonly Plain[]) => {
        pods = pods.concat(items);
      },
    };
    const request = { path: this.#podsPath, query: { labelSelector }, pageSize: this.#pageSize };
    await listAll(this.#client, request, take, signal);
    return pods;
  }

  get #mark(): string {
    return `${GATEWAY_LABEL}=${this.settings.gateway}`;
  }

  get #podsPath(): string {
    return `/api/v1/namespaces/${this.settings.namespace}/pods`;
  }

  async #path(signal: AbortSignal): Promise<string> {
    const version = await this.version(signal);
    return `/apis/${SANDBOX_GROUP}/${version}/namespaces/${this.settings.namespace}/sandboxes`;
  }
}
