import type { ReflectorSink } from "../api/reflector.js";
import { uidOf, type Plain } from "../api/plain.js";
import { readRecord, type RecordObject } from "./record-object.js";

/** Who hears of what the mirror learns. */
export interface MirrorListener {
  /** The mirror is complete, or live, or was that before: whoever waits for it looks again. */
  settled(): void;
  /** The stream broke: until it is open again nothing of what others write is heard. */
  interrupted(): void;
  /** Somebody else wrote a record; `null` for one that is gone. */
  news(id: string, version: number, record: RecordObject | null): void;
}

/**
 * The records as last heard of. What this process wrote itself is there at once; what others wrote comes with the
 * watch. Nobody decides on it: it says what to look at.
 */
export class RecordMirror implements ReflectorSink {
  readonly #gateway: string;
  readonly #listener: MirrorListener;
  #records = new Map<string, RecordObject>();
  #listed: Map<string, RecordObject> | null = null;
  /** Written or removed here since the list began: the list may not know of it yet. */
  #own = new Set<string>();
  #removed = new Set<string>();
  #complete = false;
  #open = false;

  constructor(gateway: string, listener: MirrorListener) {
    this.#gateway = gateway;
    this.#listener = listener;
  }

  /** All records were here once: what is due is known, if perhaps not of the latest. */
  get isComplete(): boolean {
    return this.#complete;
  }

  /** All records are here, and a stream is open that tells what changes. */
  get isLive(): boolean {
    return this.#complete && this.#open;
  }

  get(id: string): RecordObject | undefined {
    return this.#records.get(id);
  }

  values(): Iterable<RecordObject> {
    return this.#records.values();
  }

  /** What this process wrote. */
  wrote(object: Plain): RecordObject | null {
    return this.#answered(object)?.record ?? null;
  }

  /** What this process changed beside the record: the answer may be the first that is heard of another's write. */
  touched(object: Plain): void {
    const answered = this.#answered(object);
    if (answered?.isNew === true) this.#tell(answered.record);
  }

  #answered(object: Plain): { readonly record: RecordObject; readonly isNew: boolean } | null {
    const record = readRecord(object, this.#gateway);
    if (record === null) return null;
    this.#own.add(record.uid);
    return { record, isNew: this.#take(record, this.#records) };
  }

  /** What this process removed: late news of it do not bring it back. */
  erased({ id, uid }: RecordObject): void {
    this.#removed.add(uid);
    if (this.#records.get(id)?.uid === uid) this.#records.delete(id);
  }

  listing(): void {
    this.#listed = new Map();
    this.#own = new Set();
  }

  page(items: readonly Plain[]): void {
    for (const item of items) {
      const record = readRecord(item, this.#gateway);
      if (record !== null && this.#listed !== null) this.#take(record, this.#listed);
    }
  }

  listed(): void {
    const before = this.#records;
    const listed = this.#listed ?? new Map<string, RecordObject>();
    for (const [id, record] of before) {
      // Only what was written here meanwhile may be newer: a cluster that was restored has older versions, and is right.
      if (!this.#own.has(record.uid)) continue;
      const other = listed.get(id);
      if (other === undefined || isNewer(record, other)) listed.set(id, record);
    }
    this.#records = listed;
    this.#listed = null;
    this.#removed = new Set([...this.#removed].filter((uid) => this.#own.has(uid)));
    if (this.#complete) this.#tellDifference(before);
    this.#complete = true;
    this.#listener.settled();
  }

  changed(object: Plain): void {
    const record = readRecord(object, this.#gateway);
    if (record !== null && this.#take(record, this.#records)) this.#tell(record);
  }

  deleted(object: Plain): void {
    const uid = uidOf(object);
    this.#removed.delete(uid);
    this.#own.delete(uid);
    const record = readRecord(object, this.#gateway);
    if (record === null || this.#records.get(record.id)?.uid !== uid) return;
    this.#records.delete(record.id);
    this.#listener.news(record.id, record.version + 1, null);
  }

  opened(): void {
    this.#open = true;
    this.#listener.settled();
  }

  interrupted(): void {
    this.#open = false;
    this.#listener.interrupted();
  }

  /** Whether it says anything that was not known. */
  #take(record: RecordObject, into: Map<string, RecordObject>): boolean {
    if (this.#removed.has(record.uid)) return false;
    const known = into.get(record.id);
    if (known !== undefined && isNewer(known, record)) return false;
    into.set(record.id, record);
    return known?.uid !== record.uid || record.version > known.version;
  }

  #tell(record: RecordObject): void {
    this.#listener.news(record.id, record.version, record);
  }

  /** After a stream that broke for so long that what happened meanwhile cannot be told one by one. */
  #tellDifference(before: ReadonlyMap<string, RecordObject>): void {
    for (const record of this.#records.values()) {
      const known = before.get(record.id);
      if (known?.uid !== record.uid || record.version !== known.version) this.#tell(record);
    }
    for (const { id, version } of before.values()) {
      if (!this.#records.has(id)) this.#listener.news(id, version + 1, null);
    }
  }
}

/** Of one object the higher version is the later one; another object under the same id replaces it. */
function isNewer(record: RecordObject, than: RecordObject): boolean {
  return record.uid === than.uid && record.version > than.version;
}
