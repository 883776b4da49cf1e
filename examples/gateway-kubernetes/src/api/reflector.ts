import type { Clock } from "slipway";
import { exponentialBackoff } from "slipway/retry";
import { ApiError, isAhead, isGone } from "./api-error.js";
import type { KubeClient, Query } from "./kube-client.js";
import { listAll } from "./list-pages.js";
import { pause } from "./pause.js";
import { isRecord, memberOf, resourceVersionOf, textAt, type Plain } from "./plain.js";

/** What is told of the objects that a reflector follows. */
export interface ReflectorSink {
  /** A full list begins, or begins anew: what was told since the last `listed` of this list is void. */
  listing(): void;
  /** Objects of the list that has begun. */
  page(items: readonly Plain[]): void;
  /** The list is complete: what it did not name is gone. */
  listed(): void;
  changed(object: Plain): void;
  deleted(object: Plain): void;
  /** A stream is open: the news are those of now, but for the time they take to come. */
  opened?(): void;
  /** The stream ended; what happens from here on is told once it is open again. */
  interrupted?(): void;
}

export interface ReflectorOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
  readonly path: string;
  readonly query: Query;
  readonly sink: ReflectorSink;
  readonly pageSize?: number | undefined;
}

const PAGE_SIZE = 500;
/** The server ends a watch by itself after about this time, so that a dead connection is noticed soon after. */
const WATCH_SECONDS = 300;
const IDLE_LIMIT_MS = (WATCH_SECONDS + 30) * 1000;
/** A server that sends bookmarks sends one about every minute: where two have not come, nothing comes any more. */
const BOOKMARK_LIMIT_MS = 130_000;
/** A stream that lasted for so long, or told anything, was no failure. */
const LASTING_MS = 5000;
const BACKOFF = exponentialBackoff({ initialMs: 500, factor: 2, capMs: 30_000, jitter: "equal" });

/**
 * Follows a list of objects: lists it once, then watches from the version of the list, resumes from the last version
 * that it heard of (bookmarks included), and lists anew only when that version is too old. Waits with growing, spread
 * pauses between streams that told nothing. A version that the server has not come to, as after a restore from a backup,
 * is given up as well.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  /** Where the watch goes on; `null` means that a list comes first. */
  #version: string | null = null;
  #failures = 0;
  /** The server was seen to send bookmarks. */
  #marks = false;
  #lastFailure: unknown = null;

  constructor(options: ReflectorOptions) {
    this.#options = options;
  }

  /** What the latest list or stream that failed did so with; `null` while none did, or the latest one was good. */
  get lastFailure(): unknown {
    return this.#lastFailure;
  }

  /** Until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    while (!signal.aborted) {
      const begunAt = clock.now();
      let told = 0;
      try {
        this.#version ??= await this.#list(signal);
        told = await this.#watch(this.#version, signal);
        this.#lastFailure = null;
      } catch (error) {
        this.#lastFailure = error;
        // Too old a version is answered with a list, which costs the server most: a storm of them has to slow down.
        if (isGone(error) || isAhead(error)) this.#version = null;
      }
      this.#options.sink.interrupted?.();
      const lasted = this.#version !== null && clock.now() - begunAt >= LASTING_MS;
      this.#failures = told > 0 || lasted ? 1 : this.#failures + 1;
      await pause(clock, BACKOFF.delayMs(this.#failures, { random }), signal).catch(() => undefined);
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { client, path, query, sink, pageSize = PAGE_SIZE } = this.#options;
    sink.listing();
    const take = { restart: () => sink.listing(), page: (items: readonly Plain[]) => sink.page(items) };
    const version = await listAll(client, { path, query, pageSize }, take, signal);
    sink.listed();
    return version;
  }

  /** Follows one stream to its end; the number of events that it told. */
  async #watch(from: string, signal: AbortSignal): Promise<number> {
    const { client, clock, path, query: own, sink } = this.#options;
    const query = {
      ...own,
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: from,
      timeoutSeconds: WATCH_SECONDS,
    };
    let told = 0;
    let openedAt = Number.POSITIVE_INFINITY;
    const onOpen = (): void => {
      openedAt = clock.now();
      sink.opened?.();
    };
    const idleLimitMs = (): number => (this.#marks ? BOOKMARK_LIMIT_MS : IDLE_LIMIT_MS);
    try {
      for await (const event of client.watch(path, { query, signal, idleLimitMs, onOpen })) {
        this.#take(event);
        told += 1;
      }
    } catch (error) {
      if (isGone(error) || told === 0) throw error;
    } finally {
      // Not even a bookmark: a server that was restored from a backup has not come to this version yet, and is silent
      // about everything until then.
      const silentMs = clock.now() - openedAt;
      if (told === 0 && this.#marks && silentMs >= BOOKMARK_LIMIT_MS) this.#version = null;
    }
    return told;
  }

  #take(event: Plain): void {
    const { sink } = this.#options;
    const object = event["object"];
    if (event["type"] === "ERROR") throw refusal(object);
    if (!isRecord(object)) return;
    const version = resourceVersionOf(object);
    if (event["type"] === "BOOKMARK") this.#marks = true;
    if (event["type"] === "DELETED") sink.deleted(object);
    else if (event["type"] === "ADDED" || event["type"] === "MODIFIED") sink.changed(object);
    // Last, so that what was not taken in is told again.
    if (version !== "") this.#version = version;
  }
}

function refusal(status: unknown): ApiError {
  const code = memberOf(status, "code");
  const body = isRecord(status) ? { kind: "Status", ...status } : textAt(status, "message");
  return new ApiError("watch", typeof code === "number" ? code : 500, body);
}
