import type { ReflectorSink } from "../api/reflector.js";
import { uidOf, type Plain } from "../api/plain.js";
import { readRecord, type RecordObject } from "./record-object.js";

/**
 * The records as last heard of. What this process wrote itself is there at once; what others wrote comes with the
 * watch. Nobody decides on it: it says what to look at.
 */
export class RecordMirror implements ReflectorSink {
  readonly #gateway: string;
  readonly #onChange: () => void;
  #records = new Map<string, RecordObject>();
  #listed: Map<string, RecordObject> | null = null;
  /** Written or removed here since the list began: the list may not know of it yet. */
  #own = new Set<string>();
  #removed = new Set<string>();
  #complete = false;
  #open = false;

  constructor(gateway: string, onChange: () => void) {
    this.#gateway = gateway;
    this.#onChange = onChange;
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
  wrote(object: Plain): void {
    const record = readRecord(object, this.#gateway);
    if (record === null) return;
    this.#own.add(record.uid);
    this.#take(record, this.#records);
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
    const listed = this.#listed ?? new Map<string, RecordObject>();
    for (const [id, record] of this.#records) {
      const other = listed.get(id);
      if (other === undefined ? this.#own.has(record.uid) : isNewer(record, other)) listed.set(id, record);
    }
    this.#records = listed;
    this.#listed = null;
    this.#removed = new Set([...this.#removed].filter((uid) => this.#own.has(uid)));
    this.#complete = true;
    this.#onChange();
  }

  changed(object: Plain): void {
    const record = readRecord(object, this.#gateway);
    if (record !== null) this.#take(record, this.#records);
  }

  deleted(object: Plain): void {
    const uid = uidOf(object);
    this.#removed.delete(uid);
    this.#own.delete(uid);
    const record = readRecord(object, this.#gateway);
    if (record !== null && this.#records.get(record.id)?.uid === uid) this.#records.delete(record.id);
  }

  opened(): void {
    this.#open = true;
    this.#onChange();
  }

  interrupted(): void {
    this.#open = false;
  }

  #take(record: RecordObject, into: Map<string, RecordObject>): void {
    if (this.#removed.has(record.uid)) return;
    const known = into.get(record.id);
    if (known === undefined || !isNewer(known, record)) into.set(record.id, record);
  }
}

/** Of one object the higher version is the later one; another object under the same id replaces it. */
function isNewer(record: RecordObject, than: RecordObject): boolean {
  return record.uid === than.uid && record.version > than.version;
}
