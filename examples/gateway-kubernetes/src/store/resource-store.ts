import type {
  ChangeListener,
  ClaimDue,
  InsertResult,
  RecordChange,
  RecordPage,
  RecordStore,
  StoredRecord,
} from "@slipway-examples/gateway-core";
import { randomUUID } from "node:crypto";
import type { Clock } from "slipway";
import { exponentialBackoff } from "slipway/retry";
import { isAlreadyExists, isConflict, isObjectMissing } from "../api/api-error.js";
import type { KubeClient } from "../api/kube-client.js";
import { pause } from "../api/pause.js";
import type { Plain } from "../api/plain.js";
import { Reflector } from "../api/reflector.js";
import { GATEWAY_LABEL, OBJECT_NAME } from "../resource/names.js";
import { byId, dueNow, nextDue } from "./due-records.js";
import { MirrorWait } from "./mirror-wait.js";
import { OwnWrites } from "./own-writes.js";
import { RecordMirror } from "./record-mirror.js";
import { RecordNews } from "./record-news.js";
import {
  newRecordObject,
  readRecord,
  RECORD_GROUP,
  RECORD_VERSION,
  recordPatch,
  storedRecord,
  type RecordObject,
} from "./record-object.js";
import { RecordReads } from "./record-reads.js";
import { refuseTooLarge, refuseTooLargeChange } from "./record-size.js";
import { ResourceSessions } from "./resource-sessions.js";
import { Turns } from "./turns.js";

export interface ResourceStoreOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly namespace: string;
  readonly gateway: string;
  readonly random?: (() => number) | undefined;
  readonly pageSize?: number | undefined;
}

/** A gateway that ends waits no longer than this for requests that hang. */
const ENDING_MS = 2000;
const AGAIN = exponentialBackoff({ initialMs: 20, factor: 2, capMs: 1000, jitter: "full" });

/**
 * Records as small custom resources beside the sandboxes, so that any number of gateways needs nothing but the
 * cluster. A write names the resource version that it was decided on, and the API server refuses it when that is no
 * longer the current one.
 *
 * An object is called by the record's name, which makes names unique; that ids are is checked, and two inserts of one
 * id at the same time are both refused. Single records are read from the server; listings and due times come from a
 * mirror that a watch keeps up to date, so they are behind other gateways by the time that news take, and never behind
 * this one's own writes.
 */
export class ResourceStore implements RecordStore {
  /** Which gateway hears from which supervisor. */
  readonly sessions: ResourceSessions;
  readonly #options: ResourceStoreOptions;
  readonly #path: string;
  readonly #mirror: RecordMirror;
  readonly #news: RecordNews;
  readonly #own: OwnWrites;
  readonly #reads: RecordReads;
  readonly #turns: Turns;
  readonly #closing = new AbortController();
  readonly #wait: MirrorWait;
  readonly #reflector: Reflector;
  readonly #running: Promise<void>;
  #limit: Disposable | null = null;

  constructor(options: ResourceStoreOptions) {
    this.#options = options;
    const { client, clock, random, namespace, gateway, pageSize } = options;
    this.#path = `/apis/${RECORD_GROUP}/${RECORD_VERSION}/namespaces/${namespace}/sandboxrecords`;
    this.#news = new RecordNews(clock, () => this.#mirror.isLive);
    this.#turns = new Turns(clock, randomUUID());
    this.#mirror = new RecordMirror(gateway, {
      settled: () => this.#wait.wake(),
      interrupted: () => this.#news.doubt(),
      news: (id, version, record) => this.#own.heard({ id, version, record }),
    });
    this.#own = new OwnWrites(this.#mirror, this.#news, this.#turns);
    const { signal } = this.#closing;
    this.#wait = new MirrorWait({
      clock,
      closing: signal,
      isEnding: () => this.#limit !== null,
      lastFailure: () => this.#reflector.lastFailure,
    });
    this.#reads = new RecordReads({ client, path: this.#path, gateway, mirror: this.#mirror, signal });
    this.sessions = new ResourceSessions({ client, clock, random, namespace, gateway, signal });
    const query = { labelSelector: `${GATEWAY_LABEL}=${gateway}` };
    this.#reflector = new Reflector({
      client,
      clock,
      random,
      path: this.#path,
      query,
      pageSize,
      sink: this.#mirror,
    });
    this.#running = this.#reflector.run(signal);
  }

  insert(record: Omit<StoredRecord, "version">): Promise<InsertResult> {
    return this.#own.run((write) => this.#insert(record, write));
  }

  async #insert(record: Omit<StoredRecord, "version">, write: string): Promise<InsertResult> {
    const { client, namespace, gateway } = this.#options;
    const object = newRecordObject(record, { namespace, gateway, write });
    refuseTooLarge(object);
    if ((await this.#reads.withId(record.id)).length > 0) return "id-taken";
    const made = await client.create(this.#path, object, this.#call).catch(async (error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      // The answer to an earlier try of this write may have been lost.
      const found = await this.#reads.read(record.name);
      return found?.write === write ? this.#reads.readObject(record.name) : null;
    });
    const mine = made === null ? null : readRecord(made, gateway);
    if (made === null || mine === null) return "name-taken";
    if ((await this.#reads.withId(record.id)).some(({ uid }) => uid !== mine.uid)) {
      await this.#erase(mine);
      return "id-taken";
    }
    this.#own.wrote(made, write);
    return "inserted";
  }

  async get(id: string): Promise<StoredRecord | null> {
    const found = await this.#reads.find(id);
    return found === null ? null : storedRecord(found);
  }

  async findByName(name: string): Promise<StoredRecord | null> {
    const found = OBJECT_NAME.test(name) ? await this.#reads.read(name) : null;
    return found === null ? null : storedRecord(found);
  }

  compareAndSwap(id: string, version: number, change: RecordChange): Promise<boolean> {
    return this.#own.run((write) => this.#swap(id, version, change, write));
  }

  async #swap(id: string, version: number, change: RecordChange, write: string): Promise<boolean> {
    const known = this.#mirror.get(id);
    let read = known?.version === version ? known : await this.#reads.find(id);
    for (let conflicts = 1; ; conflicts += 1) {
      // Ours already: the write went through and its answer was lost.
      if (read?.write === write) return true;
      if (read?.version !== version) return false;
      try {
        const patch = recordPatch(read, change, write);
        refuseTooLargeChange(patch, read.value, change.value);
        const written = await this.#options.client.patch(`${this.#path}/${read.name}`, patch, this.#call);
        this.#own.wrote(written, write);
        return true;
      } catch (error) {
        if (isObjectMissing(error, read.name)) return false;
        if (!isConflict(error)) throw error;
      }
      // Somebody changed the object, but perhaps not the record: a label, an annotation.
      if (conflicts > 1) await this.#pause(conflicts);
      read = await this.#reads.find(id);
    }
  }

  async delete(id: string, version: number): Promise<boolean> {
    for (let conflicts = 1; ; conflicts += 1) {
      const read = await this.#reads.find(id);
      if (read?.version !== version) return false;
      try {
        return await this.#erase(read);
      } catch (error) {
        if (!isConflict(error)) throw error;
        await this.#pause(conflicts);
      }
    }
  }

  /** What the ledger keeps in the object of a record; `null` when there is no such record. */
  async activations(id: string): Promise<Plain | null> {
    return (await this.#reads.find(id))?.activations ?? null;
  }

  /** Changes the ledger's part of a record, decided on what is there; false when it was refused or nothing is there. */
  async changeActivations(
    id: string,
    decide: (found: Plain) => Plain | "done" | "refused",
  ): Promise<boolean> {
    for (let conflicts = 1; ; conflicts += 1) {
      const read = await this.#reads.find(id);
      if (read === null) return false;
      const decision = decide(read.activations);
      if (decision === "done" || decision === "refused") return decision === "done";
      try {
        const { uid, resourceVersion, name } = read;
        const patch = { metadata: { uid, resourceVersion }, spec: { activations: decision } };
        this.#mirror.touched(await this.#options.client.patch(`${this.#path}/${name}`, patch, this.#call));
        return true;
      } catch (error) {
        if (isObjectMissing(error, read.name)) return false;
        if (!isConflict(error)) throw error;
        await this.#pause(conflicts);
      }
    }
  }

  async list({ after, limit }: { after?: string | undefined; limit: number }): Promise<RecordPage> {
    await this.#wait.until(() => (this.#limit === null ? this.#mirror.isLive : this.#mirror.isComplete));
    const from = after ?? "";
    const later = [...this.#mirror.values()].filter(({ id }) => id > from).sort(byId);
    const items = later.slice(0, limit).map(storedRecord);
    return { items, next: later.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /**
   * What is this gateway's turn, and what others whose turn it was have left. No claim is written: it would cost each
   * record that is due a request more than a conflict costs now and then. A deadline does not wait for a stream that
   * broke: whoever is told too much looks once more than needed.
   */
  async claimDue(claim: ClaimDue): Promise<readonly StoredRecord[]> {
    await this.#wait.until(() => this.#mirror.isComplete);
    return dueNow([...this.#mirror.values()], this.#turns.waits(), claim).map(storedRecord);
  }

  /** When this gateway is to take something up next. */
  async earliestDue(): Promise<number | null> {
    await this.#wait.until(() => this.#mirror.isComplete);
    return nextDue(this.#mirror.values(), this.#turns.waits());
  }

  /**
   * Tells of everything that other gateways write, until the store is closed: what is missed while the stream is broken
   * once it is open again, and that something may be missed as long as it is not.
   */
  follow(listener: ChangeListener): void {
    this.#news.follow(listener);
  }

  /**
   * The gateway begins to end. A listing is of what is known, whatever stream is broken; what is not known fails at
   * once, and requests that hang are cut off soon.
   */
  ending(): void {
    const { clock } = this.#options;
    this.#limit ??= clock.schedule(clock.now() + ENDING_MS, () => this.#end());
    this.#news[Symbol.dispose]();
    this.#wait.wake();
  }

  async close(): Promise<void> {
    this.#limit?.[Symbol.dispose]();
    this.#news[Symbol.dispose]();
    this.#end();
    this.#wait.wake();
    await this.#running;
    await this.sessions.ended();
  }

  #end(): void {
    this.#closing.abort(new Error("the store was closed"));
  }

  /** Removes this very version; false when it was gone already. */
  async #erase(read: RecordObject): Promise<boolean> {
    const { uid, resourceVersion, name } = read;
    const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid, resourceVersion } };
    try {
      await this.#options.client.delete(`${this.#path}/${name}`, body, this.#call);
    } catch (error) {
      if (!isObjectMissing(error, name)) throw error;
      return false;
    }
    this.#mirror.erased(read);
    this.#news.outdate(read);
    return true;
  }

  get #call(): { readonly signal: AbortSignal } {
    return { signal: this.#closing.signal };
  }

  #pause(conflicts: number): Promise<void> {
    const { clock, random } = this.#options;
    return pause(clock, AGAIN.delayMs(conflicts, { random }), this.#closing.signal);
  }
}
