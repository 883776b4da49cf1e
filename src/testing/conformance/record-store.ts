import type { RecordStore, SandboxRecord, StoredRecord } from "../../phase/index.js";
import { expectEqual, expectThat, type ConformanceCase } from "./conformance-case.js";

/**
 * A record store under test. The port itself creates no records, so the test says how its store does.
 *
 * @public
 */
export interface RecordStoreSubject {
  /** The implementation under test. */
  readonly store: RecordStore;
  /** Puts a record that is not there yet. */
  create(id: string, record: SandboxRecord): Promise<unknown>;
  /** A second way to the same records, as another replica has it. Default: the same store. */
  readonly other?: RecordStore | undefined;
}

const LISTED = 250;
const AT = 1_800_000_000_000;
const record = (fields: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase: "Stopped",
  desired: "stopped",
  since: AT,
  ...fields,
});

async function stored(store: RecordStore, id: string): Promise<StoredRecord> {
  const found = await store.get(id);
  if (found === null) throw new Error(`the record ${id} that was created is not there`);
  return found;
}

/** As many ids as take a store with pages more than one of them. */
function listedIds(): string[] {
  return Array.from({ length: LISTED }, (_, index) => `sb-${String(index).padStart(4, "0")}`);
}

async function listAll(store: RecordStore): Promise<readonly StoredRecord[]> {
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

/**
 * What every {@link RecordStore} must do: a write is decided on the version that was read and on nothing else, what is
 * read is what was written, and a listing leaves nothing out.
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
  {
    name: "what is not there reads as null, and no write or removal invents it",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      await subject.create("a", record());
      const { version } = await stored(store, "a");
      expectEqual("reading nothing", await store.get("b"), null);
      expectEqual("swapping nothing", await store.compareAndSwap("b", version, record()), null);
      expectEqual("removing nothing", await store.delete("b", version), false);
      expectEqual("reading nothing afterwards", await store.get("b"), null);
    },
  },
  {
    name: "a record comes back as it was written, with every field",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      const full = record({
        phase: "Error",
        updatedAt: AT + 1,
        instanceId: 'ü "1"',
        expectedInstanceId: null,
        exitCode: 137,
        finishedAt: AT + 2,
        reason: "BootFailed",
        message: "line\nline",
        deadline: { deadlineAt: null, phase: "admission", lastPhase: true },
        conditions: [
          {
            type: "Ready",
            status: "False",
            reason: "BootFailed",
            message: "",
            lastTransitionTime: "2027-01-15T08:00:00Z",
          },
        ],
        generation: 7,
      });
      await subject.create("a", full);
      expectEqual("what was created", (await stored(store, "a")).record, full);
      const next = record({ phase: "Starting", desired: "running" });
      const written = await store.compareAndSwap("a", (await stored(store, "a")).version, next);
      expectEqual("what a swap answers", [written?.id, written?.record], ["a", next]);
      expectEqual("what was swapped in", (await stored(store, "a")).record, next);
    },
  },
  {
    name: "a swap answers with the version under which it is stored, and each write gives another one",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      await subject.create("a", record());
      const seen = [(await stored(store, "a")).version];
      for (let since = 1; since <= 3; since += 1) {
        const written = await store.compareAndSwap("a", seen.at(-1) ?? "", record({ since }));
        expectThat("a swap on the current version is done", written !== null);
        expectEqual("the version that is stored", (await stored(store, "a")).version, written?.version);
        if (written !== null) seen.push(written.version);
      }
      expectEqual("different versions", new Set(seen).size, 4);
    },
  },
  {
    name: "a swap on an older version changes nothing, also with what is there already",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      await subject.create("a", record());
      const old = await stored(store, "a");
      await store.compareAndSwap("a", old.version, record({ since: 1 }));
      const current = await stored(store, "a");
      expectEqual(
        "a swap on the old version",
        await store.compareAndSwap("a", old.version, old.record),
        null,
      );
      expectEqual(
        "a repeated swap on the old version",
        await store.compareAndSwap("a", old.version, current.record),
        null,
      );
      expectEqual("the record afterwards", await stored(store, "a"), current);
    },
  },
  {
    name: "a removal is decided on the version as well, and takes nothing else away",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      await subject.create("a", record());
      await subject.create("b", record({ since: 1 }));
      const old = await stored(store, "a");
      await store.compareAndSwap("a", old.version, record({ since: 2 }));
      expectEqual("a removal on the old version", await store.delete("a", old.version), false);
      const { version } = await stored(store, "a");
      expectEqual("a removal on the current version", await store.delete("a", version), true);
      expectEqual("what was removed", await store.get("a"), null);
      expectEqual("the other record", (await stored(store, "b")).record, record({ since: 1 }));
      expectEqual("a second removal", await store.delete("a", version), false);
    },
  },
  {
    name: "no swap brings back what was removed, nor does an old version count for its successor of the same id",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      await subject.create("a", record());
      const { version } = await stored(store, "a");
      await store.delete("a", version);
      expectEqual("a swap of what is gone", await store.compareAndSwap("a", version, record()), null);
      await subject.create("a", record({ since: 1 }));
      expectEqual(
        "a swap on its predecessor's version",
        await store.compareAndSwap("a", version, record()),
        null,
      );
      expectEqual("the successor", (await stored(store, "a")).record, record({ since: 1 }));
    },
  },
  {
    name: "of many swaps on one version exactly one is done, whoever makes them",
    async run(open) {
      const subject = await open();
      const { store, other = store } = subject;
      await subject.create("a", record());
      const { version } = await stored(store, "a");
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, since) =>
          (since % 2 === 0 ? store : other).compareAndSwap("a", version, record({ since })),
        ),
      );
      const winners = results.flatMap((result, since) => (result === null ? [] : [since]));
      expectEqual("swaps that were done", winners.length, 1);
      expectEqual("the record", (await stored(other, "a")).record, record({ since: winners[0] ?? -1 }));
    },
  },
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
    name: "a swap on the version of another record, or on one that comes later, changes nothing",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      await subject.create("a", record());
      await subject.create("b", record({ since: 1 }));
      const [a, b] = [await stored(store, "a"), await stored(store, "b")];
      const later = await store.compareAndSwap("b", b.version, record({ since: 2 }));
      expectThat("a swap on the current version is done", later !== null);
      expectEqual("the other record after a swap", await stored(store, "a"), a);
      for (const { version } of [b, later ?? b]) {
        if (version === a.version) continue;
        expectEqual("a swap on a foreign version", await store.compareAndSwap("a", version, record()), null);
        expectEqual("a removal on a foreign version", await store.delete("a", version), false);
      }
      expectEqual("the record afterwards", await stored(store, "a"), a);
    },
  },
  {
    name: "an id is taken to the letter",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      await subject.create("sb-10", record());
      const { version } = await stored(store, "sb-10");
      for (const other of ["SB-10", "sb-1", "sb-100", "sb_10", "sb-%"]) {
        expectEqual(`reading ${other}`, await store.get(other), null);
        expectEqual(`swapping ${other}`, await store.compareAndSwap(other, version, record()), null);
        expectEqual(`removing ${other}`, await store.delete(other, version), false);
      }
      expectEqual("the record afterwards", (await stored(store, "sb-10")).version, version);
    },
  },
  {
    name: "a long text comes back whole",
    async run(open) {
      const subject = await open();
      const { store } = subject;
      const long = record({ message: "ä line of many\n".repeat(1000) });
      await subject.create("a", long);
      expectEqual("the record", (await stored(store, "a")).record, long);
    },
  },
  {
    name: "whoever read before reads what somebody else has written since",
    async run(open) {
      const subject = await open();
      const { store, other = store } = subject;
      await subject.create("a", record());
      await subject.create("b", record());
      await listAll(other);
      const { version } = await stored(other, "a");
      await store.compareAndSwap("a", version, record({ since: 1 }));
      await store.delete("b", (await stored(other, "b")).version);
      expectEqual("the record", (await stored(other, "a")).record, record({ since: 1 }));
      expectEqual("what was removed", await other.get("b"), null);
      const items = await listAll(other);
      expectEqual(
        "the listing",
        items.map(({ id, record: { since } }) => [id, since]),
        [["a", 1]],
      );
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
