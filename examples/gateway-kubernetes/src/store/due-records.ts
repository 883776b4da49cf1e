import type { ClaimDue } from "@slipway-examples/gateway-core";
import type { RecordObject } from "./record-object.js";

type WaitOf = (id: string) => number;

/** What is due, the longest due first, once whoever is to wait for it has waited. */
export function dueNow(
  records: readonly RecordObject[],
  waitOf: WaitOf,
  { now, limit, after }: ClaimDue,
): readonly RecordObject[] {
  const isLater = (id: string, dueAt: number): boolean =>
    after === undefined || dueAt > after.dueAt || (dueAt === after.dueAt && id > after.id);
  return records
    .filter(
      ({ id, dueAt }) => dueAt !== null && dueAt <= now && isLater(id, dueAt) && dueAt + waitOf(id) <= now,
    )
    .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || byId(a, b))
    .slice(0, limit);
}

/** When the first of them is to be taken up; `null` where none ever is. */
export function nextDue(records: Iterable<RecordObject>, waitOf: WaitOf): number | null {
  let earliest: number | null = null;
  for (const { id, dueAt } of records) {
    if (dueAt === null || (earliest !== null && dueAt >= earliest)) continue;
    earliest = Math.min(dueAt + waitOf(id), earliest ?? Number.POSITIVE_INFINITY);
  }
  return earliest;
}

export function byId(a: RecordObject, b: RecordObject): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
