import type { ToldChange } from "./postgres/change-teller.js";
import type { StoredRecord } from "./record-store.js";

/** A write, as a store tells of it. */
export interface NoticedChange extends ToldChange {
  /** What was written, `null` for a removal, where the store's news bring it. Absent: it has to be read. */
  readonly found?: StoredRecord | null | undefined;
}

/** Who wants to hear of writes that others made. */
export interface ChangeListener {
  noticeChange(change: NoticedChange): Promise<void>;
  noticeGap(): void;
  /** Somebody wrote something, or may have, and it is not known what. */
  noticeWrites(): void;
}
