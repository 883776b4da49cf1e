import type { JsonObject } from "../record/json.js";

/** A record as a store keeps it. `value` is opaque to the store: whoever reads it decodes it. */
export interface StoredRecord {
  readonly id: string;
  readonly name: string;
  /** Grows by one with each write; the only thing a write is decided on. */
  readonly version: number;
  /** When somebody has to look at this record without being asked, `null` for never. */
  readonly dueAt: number | null;
  readonly value: JsonObject;
}

/** What a write puts in place. Identity and name stay. */
export interface RecordChange {
  readonly dueAt: number | null;
  readonly value: JsonObject;
}

export type InsertResult = "inserted" | "id-taken" | "name-taken";

/** One page of a listing; `next` goes into the following call, `null` when there is no more. */
export interface RecordPage {
  readonly items: readonly StoredRecord[];
  readonly next: string | null;
}

/**
 * Where records live. Every method is one atomic step; there is no lock and no transaction across calls, because
 * every decision is written by compare-and-swap on the version it was made from.
 */
export interface RecordStore {
  /** Puts a new record at version 1. Id and name are unique among all records. */
  insert(record: Omit<StoredRecord, "version">): Promise<InsertResult>;
  get(id: string): Promise<StoredRecord | null>;
  findByName(name: string): Promise<StoredRecord | null>;
  /** Replaces the value when the stored version is `version`; false when it is not or the record is gone. */
  compareAndSwap(id: string, version: number, change: RecordChange): Promise<boolean>;
  /** Removes the record when the stored version is `version`. */
  delete(id: string, version: number): Promise<boolean>;
  /** Records in the order of their ids, strictly after `after`. */
  list(options: { readonly after?: string | undefined; readonly limit: number }): Promise<RecordPage>;
  /** Records whose `dueAt` has come, the earliest first. */
  due(options: { readonly now: number; readonly limit: number }): Promise<readonly StoredRecord[]>;
  /** The earliest `dueAt` of all records. */
  earliestDue(): Promise<number | null>;
  close(): Promise<void>;
}
