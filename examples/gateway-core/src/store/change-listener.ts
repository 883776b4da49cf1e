import type { ToldChange } from "./postgres/change-teller.js";

/** Who wants to hear of writes that others made. */
export interface ChangeListener {
  noticeChange(change: ToldChange): Promise<void>;
  noticeGap(): void;
  /** Somebody wrote something, and it is not known what. */
  noticeWrites(): void;
}
