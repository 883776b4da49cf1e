import { describe, expect, it } from "vitest";
import { failed } from "./failed-cases.js";
import type { RecordStore, SandboxRecord, StoredRecord } from "../../src/phase/index.js";
import { MemoryRecordStore, recordStoreConformance } from "../../src/testing/index.js";

/** How a store may be wrong, each by one small change of a right one. */
class BrokenStore extends MemoryRecordStore {
  readonly fault: string;

  constructor(fault: string) {
    super({ pageSize: 40 });
    this.fault = fault;
  }

  override async get(id: string): Promise<StoredRecord | null> {
    const found = await super.get(id);
    if (this.fault === "invents records" && found === null)
      return { id, version: 0, record: { phase: "Stopped", desired: "stopped", since: 0 } };
    if (this.fault === "forgets fields" && found !== null) {
      const { phase, desired, since } = found.record;
      return { ...found, record: { phase, desired, since } };
    }
    if (this.fault === "one version for all" && found !== null) return { ...found, version: 1 };
    if (this.fault === "ids without case" && found === null && id !== id.toLowerCase())
      return super.get(id.toLowerCase());
    if (this.fault === "cuts long texts" && found !== null) {
      const { message } = found.record;
      return { ...found, record: { ...found.record, ...(message && { message: message.slice(0, 255) }) } };
    }
    return found;
  }

  override async list(cursor: string | null) {
    const page = await super.list(this.fault === "first page for ever" ? null : cursor);
    if (this.fault === "one page only") return { ...page, cursor: null };
    if (this.fault === "repeats the cursor's record" && cursor !== null) {
      const found = await super.get(cursor);
      return { ...page, items: [...(found === null ? [] : [found]), ...page.items] };
    }
    if (this.fault === "lists by offset") {
      const all = [];
      for (let at: string | null = null; ; ) {
        const next = await super.list(at);
        all.push(...next.items);
        if (next.cursor === null) break;
        at = next.cursor;
      }
      const from = Number(cursor ?? 0);
      return { items: all.slice(from, from + 40), cursor: all.length > from + 40 ? String(from + 40) : null };
    }
    return page;
  }

  override async compareAndSwap(
    id: string,
    version: string | number,
    next: SandboxRecord,
  ): Promise<StoredRecord | null> {
    const found = await super.get(id);
    switch (this.fault) {
      case "swaps on any version":
        return found === null ? null : super.compareAndSwap(id, found.version, next);
      case "swaps on a later version":
        return found !== null && Number(found.version) <= Number(version)
          ? super.compareAndSwap(id, found.version, next)
          : null;
      case "swaps what is not there":
        return found === null ? this.put(id, next) : super.compareAndSwap(id, version, next);
      case "looks first and writes later": {
        if (found?.version !== version) return null;
        await Promise.resolve();
        return this.put(id, next);
      }
      case "takes an equal record for done":
        if (JSON.stringify(found?.record) === JSON.stringify(next)) return found;
        break;
      case "answers with the old version": {
        const written = await super.compareAndSwap(id, version, next);
        return written === null ? null : { ...written, version };
      }
      case "one version for all":
        return found === null ? null : super.compareAndSwap(id, found.version, next);
    }
    return super.compareAndSwap(id, version, next);
  }

  override async delete(id: string, version: string | number): Promise<boolean> {
    const found = await super.get(id);
    switch (this.fault) {
      case "removes any version":
        return found !== null && super.delete(id, found.version);
      case "says it removed":
        return (await super.delete(id, version)) || true;
      case "removes too much":
        if (found?.version === version)
          for (const other of ["b"]) {
            const stored = await super.get(other);
            if (stored !== null) await super.delete(other, stored.version);
          }
        break;
    }
    return super.delete(id, version);
  }
}

/** Versions count from one for each record, as some stores have it: a successor looks like its predecessor. */
class CountingStore extends MemoryRecordStore {
  override put(id: string, record: SandboxRecord): StoredRecord {
    const count = (this.versions.get(id) ?? 0) + 1;
    this.versions.set(id, count);
    this.records.set(id, { id, version: count, record });
    return { id, version: count, record };
  }
  readonly versions = new Map<string, number>();
  readonly records = new Map<string, StoredRecord>();
  override get = async (id: string): Promise<StoredRecord | null> => {
    await Promise.resolve();
    return this.records.get(id) ?? null;
  };
  override compareAndSwap = async (id: string, version: string | number, next: SandboxRecord) => {
    await Promise.resolve();
    return this.records.get(id)?.version === version ? this.put(id, next) : null;
  };
  override delete = async (id: string, version: string | number): Promise<boolean> => {
    await Promise.resolve();
    if (this.records.get(id)?.version !== version) return false;
    this.versions.delete(id);
    return this.records.delete(id);
  };
}

/** Reads what it read before: right for one, and wrong for whoever shares the records. */
class CachingStore implements RecordStore {
  readonly #store: RecordStore;
  readonly #read = new Map<string, StoredRecord | null>();

  constructor(store: RecordStore) {
    this.#store = store;
  }

  async get(id: string): Promise<StoredRecord | null> {
    const found = this.#read.get(id) ?? (await this.#store.get(id));
    this.#read.set(id, found);
    return found;
  }

  list(cursor: string | null) {
    return this.#store.list(cursor);
  }

  async compareAndSwap(id: string, version: string | number, next: SandboxRecord) {
    this.#read.delete(id);
    return this.#store.compareAndSwap(id, version, next);
  }

  async delete(id: string, version: string | number) {
    this.#read.delete(id);
    return this.#store.delete(id, version);
  }
}

/** Lists what was written last first, and goes on from the version that it has come to. */
class LatestFirstStore extends MemoryRecordStore {
  override async list(cursor: string | null) {
    const all: StoredRecord[] = [];
    for (let at: string | null = null; ; ) {
      const page = await super.list(at);
      all.push(...page.items);
      if (page.cursor === null) break;
      at = page.cursor;
    }
    const left = all
      .filter(({ version }) => cursor === null || Number(version) < Number(cursor))
      .sort((one, other) => Number(other.version) - Number(one.version));
    const items = left.slice(0, 40);
    return { items, cursor: left.length > 40 ? String(items.at(-1)?.version) : null };
  }
}

const subjectOf = (store: MemoryRecordStore) => ({
  store: store as RecordStore,
  create: (id: string, record: SandboxRecord) => Promise.resolve(store.put(id, record)),
});

const STORE_FAULTS = [
  "invents records",
  "forgets fields",
  "one version for all",
  "first page for ever",
  "one page only",
  "repeats the cursor's record",
  "lists by offset",
  "swaps on any version",
  "swaps what is not there",
  "looks first and writes later",
  "takes an equal record for done",
  "answers with the old version",
  "removes any version",
  "says it removed",
  "removes too much",
  "swaps on a later version",
  "ids without case",
  "cuts long texts",
];

describe("the conformance suite of record stores", () => {
  it.each(recordStoreConformance.map((each) => [each.name, each] as const))(
    "memory: %s",
    async (_, { run }) => {
      await run(() => subjectOf(new MemoryRecordStore()));
    },
  );

  it("catches every fault, and each case catches one", async () => {
    const caught = new Set<string>();
    const cached = () => {
      const store = new MemoryRecordStore();
      return { ...subjectOf(store), other: new CachingStore(store) };
    };
    const stores = [
      ...STORE_FAULTS.map((fault) => [fault, () => subjectOf(new BrokenStore(fault))] as const),
      ["counts versions from one", () => subjectOf(new CountingStore())] as const,
      ["reads what it read before", cached] as const,
      ["lists what was written last first", () => subjectOf(new LatestFirstStore())] as const,
    ];
    for (const [fault, open] of stores) {
      const names = await failed(recordStoreConformance, open);
      expect(names, fault).not.toEqual([]);
      for (const name of names) caught.add(name);
    }
    expect([...caught].sort()).toEqual(recordStoreConformance.map(({ name }) => name).sort());
  });
});
