import type { Clock } from "slipway";
import type { Decision, Rule } from "../decide/decision.js";
import { dueAt } from "../record/due.js";
import type { JsonObject } from "../record/json.js";
import { decodeRecord } from "../record/record-schema.js";
import type { SandboxRecord } from "../record/record.js";
import type { InsertResult, RecordStore, StoredRecord } from "../store/record-store.js";
import { sleep } from "../sleep.js";
import type { EventHub } from "./event-hub.js";

export interface VersionedRecord {
  readonly record: SandboxRecord;
  readonly version: number;
}

export interface UnreadableRecord {
  readonly id: string;
  readonly error: unknown;
}

/** A record that somebody has to look at. */
export interface DueRecord {
  readonly id: string;
  readonly dueAt: number;
  readonly found: VersionedRecord | UnreadableRecord;
}

/** There is no such sandbox, or none any more. */
export class NoSuchSandboxError extends Error {
  override readonly name = "NoSuchSandboxError";
  constructor(id: string) {
    super(`There is no sandbox ${JSON.stringify(id)}`);
  }
}

const TRIES_MAX = 200;
/** Long enough to decide what is due, and short enough that a gateway that died holds nobody up. */
const CLAIM_MS = 2000;

/** A record that is about to be written, as it was and as it will be. Pure. */
export type Explain = (before: SandboxRecord, after: SandboxRecord, now: number) => SandboxRecord;

/** Told of each write of this gateway once it took place. `null`: there was nothing before. */
export type Written = (before: SandboxRecord | null, after: SandboxRecord) => void;

/**
 * The records, decoded, with the one way in which they change: read, decide, compare-and-swap, and decide anew on
 * what is there when somebody else was faster. A decision on an old record is never written.
 */
export class SandboxRecords {
  readonly #store: RecordStore;
  readonly #clock: Clock;
  readonly #hub: EventHub;
  readonly #explain: Explain;
  readonly #written: Written;

  /** @param explain - Adds to every write what only this gateway knows. Default: nothing. */
  constructor(
    store: RecordStore,
    clock: Clock,
    hub: EventHub,
    explain: Explain = (_before, after) => after,
    written: Written = () => undefined,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#hub = hub;
    this.#explain = explain;
    this.#written = written;
  }

  /** @throws CorruptRecordError */
  async read(id: string): Promise<VersionedRecord | null> {
    const stored = await this.#store.get(id);
    return stored === null ? null : decode(stored);
  }

  async findByName(name: string): Promise<VersionedRecord | null> {
    const stored = await this.#store.findByName(name);
    return stored === null ? null : decode(stored);
  }

  async insert(record: SandboxRecord): Promise<InsertResult> {
    const { id, name } = record;
    const result = await this.#store.insert({ id, name, ...encode(record) });
    if (result === "inserted") {
      this.#written(null, record);
      this.#hub.publish(id, 1, record);
    }
    return result;
  }

  /**
   * @param known - The record as it was read a moment ago: decided on first, without reading it again.
   * @throws NoSuchSandboxError when the record is gone, CorruptRecordError when it cannot be read
   */
  async change<Result>(
    id: string,
    rule: Rule<Result>,
    known: VersionedRecord | null = null,
  ): Promise<VersionedRecord & { readonly result: Result }> {
    for (let tries = 1; ; tries += 1) {
      const found: VersionedRecord | null = tries === 1 && known !== null ? known : await this.read(id);
      if (found === null) throw new NoSuchSandboxError(id);
      const { record, result }: Decision<Result> = rule(found.record, this.#clock.now());
      if (record === found.record) return { ...found, result };
      const written = await this.swap(found.version, found.record, record);
      if (written !== null) return { ...written, result };
      if (tries >= TRIES_MAX)
        throw new Error(`The record ${id} changed ${TRIES_MAX} times under one decision`);
      // Each conflict means that somebody else went ahead; a growing pause lets many of them finish.
      if (tries > 1) await sleep(this.#clock, Math.min(tries, 20));
    }
  }

  /** One write of what was decided on a version; `null` when somebody else wrote in the meantime. */
  async swap(
    version: number,
    before: SandboxRecord,
    decided: SandboxRecord,
  ): Promise<VersionedRecord | null> {
    const { id } = before;
    const record = this.#explain(before, decided, this.#clock.now());
    if (!(await this.#store.compareAndSwap(id, version, encode(record)))) return null;
    this.#written(before, record);
    this.#hub.publish(id, version + 1, record);
    return { record, version: version + 1 };
  }

  /** Removes the record if it still is what the caller saw. */
  async remove(id: string, version: number): Promise<boolean> {
    const removed = await this.#store.delete(id, version);
    if (removed) this.#hub.publish(id, version + 1, null);
    return removed;
  }

  /** A page of records. One that cannot be read comes as its error and does not hide the others. */
  async list(options: { after?: string | undefined; limit: number }): Promise<{
    readonly items: readonly (VersionedRecord | UnreadableRecord)[];
    readonly next: string | null;
  }> {
    const page = await this.#store.list(options);
    return { items: page.items.map(decodeOrError), next: page.next };
  }

  /**
   * What is due and free, claimed for this owner for a moment: other gateways leave it alone meanwhile.
   *
   * @param after - Only what comes after this one, the last of the page before.
   */
  async claimDue(owner: string, limit: number, after: DueRecord | null): Promise<readonly DueRecord[]> {
    const now = this.#clock.now();
    const page = after === null ? {} : { after: { id: after.id, dueAt: after.dueAt } };
    const due = await this.#store.claimDue({ now, limit, owner, until: now + CLAIM_MS, ...page });
    return due.map((stored) => ({ id: stored.id, dueAt: stored.dueAt ?? now, found: decodeOrError(stored) }));
  }

  /**
   * Somebody else may have written the record: whoever follows this gateway hears of it, if it is news.
   *
   * @param told - The record as the news brought it. Absent: it is read.
   */
  async announce(id: string, told?: StoredRecord | null): Promise<void> {
    const found = told === undefined ? await this.#store.get(id) : told;
    if (found === null) this.#hub.announce(id, null, null);
    else this.#hub.announce(id, found.version, decode(found).record);
  }

  earliestDue(): Promise<number | null> {
    return this.#store.earliestDue();
  }
}

function encode(record: SandboxRecord): { readonly dueAt: number | null; readonly value: JsonObject } {
  return { dueAt: dueAt(record), value: record as unknown as JsonObject };
}

function decode({ id, version, value }: StoredRecord): VersionedRecord {
  return { record: decodeRecord(id, value), version };
}

function decodeOrError(stored: StoredRecord): VersionedRecord | UnreadableRecord {
  try {
    return decode(stored);
  } catch (error) {
    return { id: stored.id, error };
  }
}
