import type { StoredRecord } from "./record-store.js";

/** What an update returns comes in no order. */
export function byDue(one: StoredRecord, other: StoredRecord): number {
  return (one.dueAt ?? 0) - (other.dueAt ?? 0) || (one.id < other.id ? -1 : 1);
}
