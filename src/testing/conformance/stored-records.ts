import type { RecordStore, SandboxRecord, StoredRecord } from "../../phase/index.js";
import { expectThat } from "./conformance-case.js";

/** @internal */
export const AT = 1_800_000_000_000;

/** @internal */
export const record = (fields: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase: "Stopped",
  desired: "stopped",
  since: AT,
  ...fields,
});

/** @internal */
export async function stored(store: RecordStore, id: string): Promise<StoredRecord> {
  const found = await store.get(id);
  if (found === null) throw new Error(`the record ${id} that was created is not there`);
  return found;
}

/** @internal */
export async function listAll(store: RecordStore): Promise<readonly StoredRecord[]> {
  const items: StoredRecord[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | null = null; ; ) {
    const page = await store.list(cursor);
    items.push(...page.items);
    if (page.cursor === null) return items;
    expectThat(
      `the cursor ${JSON.stringify(page.cursor)} is null on the last page, else a new text`,
      typeof page.cursor === "string" && !cursors.has(page.cursor),
    );
    cursors.add(page.cursor);
    cursor = page.cursor;
  }
}
