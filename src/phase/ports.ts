import type { Observation } from "./observation.js";
import type { ExpectedRun, SandboxRecord } from "./record.js";

/**
 * A record with the version under which it is stored. The version is opaque: it is only compared and handed back.
 *
 * @public
 */
export interface StoredRecord {
  /** The sandbox. */
  readonly id: string;
  /** Changes with every write. Compared with `===` and handed back, never counted. */
  readonly version: string | number;
  /** What is stored. */
  readonly record: SandboxRecord;
}

/**
 * A page of a listing. `cursor` is `null` on the last one.
 *
 * @public
 */
export interface Page<Item> {
  /** What this page lists. */
  readonly items: readonly Item[];
  /** What to ask for the next page with; `null` on the last one. */
  readonly cursor: string | null;
}

/**
 * Where a gateway keeps its records.
 *
 * Writes are compare-and-swap on the version that was read, so that any number of replicas may share a store.
 *
 * @public
 */
export interface RecordStore {
  /** The stored record, or `null` when there is none. */
  get(id: string): Promise<StoredRecord | null>;
  /** Lists all records, page by page, from `null` on. */
  list(cursor: string | null): Promise<Page<StoredRecord>>;
  /** Writes when the stored version is still the expected one; `null` when it is not, or the record is gone. */
  compareAndSwap(id: string, version: string | number, next: SandboxRecord): Promise<StoredRecord | null>;
  /** Removes when the stored version is still the expected one. `false` when it is not. */
  delete(id: string, version: string | number): Promise<boolean>;
}

/**
 * One sandbox as a backend shows it.
 *
 * @public
 */
export interface ObservedSandbox {
  /** The sandbox that the object belongs to, as the object says. */
  readonly id: string;
  /** The facts in what the backend shows. */
  readonly observation: Observation;
}

/**
 * News from a backend: a hint to look, never evidence by itself.
 *
 * @public
 */
export interface WatchEvent {
  /** Whether something about it changed or it went away. */
  readonly type: "changed" | "deleted";
  /** The sandbox. */
  readonly id: string;
}

/**
 * How a gateway sees one compute backend.
 *
 * @public
 */
export interface ObservationSource {
  /** Lists everything there is, page by page, from `null` on. Throws when the backend does not answer. */
  list(cursor: string | null, signal: AbortSignal): Promise<Page<ObservedSandbox>>;
  /**
   * Looks at one sandbox. A definite not-found is an observation with `exists: false`; `null` or a throw is no
   * observation.
   */
  get(id: string, run: ExpectedRun, signal: AbortSignal): Promise<ObservedSandbox | null>;
  /** News until the stream ends or breaks; it is opened again then. Ends or throws when its signal aborts. */
  watch(signal: AbortSignal): AsyncIterable<WatchEvent>;
}
