import { expectEqual, expectThat, type ConformanceCase } from "./conformance-case.js";
import type { RecordStoreSubject } from "./record-store-subject.js";
import { AT, listAll, record, stored } from "./stored-records.js";

const LISTED = 250;

/** As many ids as take a store with pages more than one of them. */
function listedIds(): string[] {
  return Array.from({ length: LISTED }, (_, index) => `sb-${String(index).padStart(4, "0")}`);
}

/**
 * A listing leaves nothing out, also of what changes meanwhile.
 *
 * @internal
 */
export const recordListing: readonly ConformanceCase<RecordStoreSubject>[] = [
  {
    name: "a listing has every record once, as a read has it, over as many pages as it takes",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      expectEqual("a listing of nothing", await listAll(store), []);
      const ids = listedIds();
      for (const [since, id] of ids.entries()) await subject.create(id, record({ since }));
      const items = await listAll(store);
      expectEqual("ids", items.map(({ id }) => id).sort(), ids);
      for (const id of [ids[0] ?? "", ids.at(-1) ?? ""]) {
        const [item] = items.filter((listed) => listed.id === id);
        expectEqual(`the record ${id} in the listing`, item, await stored(store, id));
      }
    },
  },
  {
    name: "records that go while a listing is under way hide none of those that stay",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      const ids = listedIds();
      for (const id of ids) await subject.create(id, record());
      const seen = new Set<string>();
      const gone = new Set<string>();
      for (let cursor: string | null = null; ; ) {
        const page = await store.list(cursor);
        for (const { id } of page.items) seen.add(id);
        // The first and the last of what was just listed go, which is what a cursor may stand on.
        for (const item of [page.items[0], page.items.at(-1)]) {
          if (item !== undefined && (await store.delete(item.id, item.version))) gone.add(item.id);
        }
        if (page.cursor === null) break;
        cursor = page.cursor;
      }
      const missed = ids.filter((id) => !seen.has(id) && !gone.has(id));
      expectEqual("records that stayed and were not listed", missed, []);
    },
  },
  {
    name: "records that are written while a listing is under way are in it",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      const ids = listedIds();
      for (const id of ids) await subject.create(id, record());
      const seen = new Set<string>();
      const cursors = new Set<string>();
      for (let cursor: string | null = null; ; ) {
        const page = await store.list(cursor);
        for (const { id } of page.items) seen.add(id);
        // One that was listed and two that were perhaps not yet.
        for (const id of [page.items[0]?.id, ids.findLast((each) => !seen.has(each)), ids.at(-1)]) {
          const found = id === undefined ? null : await store.get(id);
          if (found !== null) await store.compareAndSwap(found.id, found.version, record({ since: AT + 1 }));
        }
        if (page.cursor === null) break;
        expectThat(
          `the cursor ${JSON.stringify(page.cursor)} is null on the last page, else a new text`,
          typeof page.cursor === "string" && !cursors.has(page.cursor),
        );
        cursors.add(page.cursor);
        cursor = page.cursor;
      }
      const missed = ids.filter((id) => !seen.has(id));
      expectEqual("records that were not listed", missed, []);
    },
  },
];
