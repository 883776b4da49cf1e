import { expectEqual, expectThat, type ConformanceCase } from "./conformance-case.js";
import type { RecordStoreSubject } from "./record-store-subject.js";
import { record, stored } from "./stored-records.js";

/**
 * A write or a removal is decided on the version that was read, and on nothing else.
 *
 * @internal
 */
export const recordWrites: readonly ConformanceCase<RecordStoreSubject>[] = [
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
];
