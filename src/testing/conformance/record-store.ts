import type { ConformanceCase } from "./conformance-case.js";
import { recordListing } from "./record-listing.js";
import { recordReads } from "./record-reads.js";
import type { RecordStoreSubject } from "./record-store-subject.js";
import { recordWrites } from "./record-writes.js";

/**
 * What every {@link RecordStoreSubject.store | RecordStore} must do: a write is decided on the version that was read and
 * on nothing else, what is read is what was written, and a listing leaves nothing out.
 *
 * @example
 * ```ts
 * import { MemoryRecordStore, recordStoreConformance } from "slipway/testing";
 *
 * for (const { name, run } of recordStoreConformance) {
 *   await run(() => {
 *     const store = new MemoryRecordStore();
 *     return { store, create: async (id, record) => store.put(id, record) };
 *   });
 *   console.log("holds:", name);
 * }
 * ```
 *
 * @public
 */
export const recordStoreConformance: readonly ConformanceCase<RecordStoreSubject>[] = [
  ...recordReads,
  ...recordWrites,
  ...recordListing,
];
