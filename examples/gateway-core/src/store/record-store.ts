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

/** A request for records that are due, to be looked at by one gateway for a while. */
export interface ClaimDue {
  readonly now: number;
  readonly limit: number;
  /** Who claims. Its own claims it gets again: it may have been restarted. */
  readonly owner: string;
  /** Until when nobody else gets them. */
  readonly until: number;
  /** Only what comes after this record in the order of a claim: the next page of the same look. */
  readonly after?: { readonly id: string; readonly dueAt: number } | undefined;
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
  /**
   * Records whose `dueAt` has come and that no other gateway claimed, the earliest first and those of one instant by
   * their ids, claimed for the owner. Saves
   * work where many gateways share a store, and nothing else: what is decided is decided by compare-and-swap, and a
   * store may claim nothing. A claim is no write of the record, and the next write ends it.
   */
  claimDue(claim: ClaimDue): Promise<readonly StoredRecord[]>;
  /** The earliest `dueAt` of all records. */
  earliestDue(): Promise<number | null>;
  close(): Promise<void>;
}
