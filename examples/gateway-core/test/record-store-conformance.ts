import type { RecordStore, StoredRecord } from "../src/store/record-store.js";

/** One thing every record store must do. Framework-free: `run` throws when the store does not do it. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: (open: OpenStore) => Promise<void>;
}

/** Opens a connection. All connections of one case share one empty store. */
type OpenStore = () => Promise<RecordStore>;

export const recordStoreConformance: readonly ConformanceCase[] = [
  testCase("a record that was put in comes back as it was, at version 1", async (open) => {
    const store = await open();
    const value = { text: "ü \u0000 \" '", list: [1, -0.5, null, true], deep: { at: 1_790_000_000_123 } };
    equal(await store.insert({ id: "a", name: "one", dueAt: 5, value }), "inserted");
    same(await store.get("a"), { id: "a", name: "one", version: 1, dueAt: 5, value });
    same(await store.findByName("one"), { id: "a", name: "one", version: 1, dueAt: 5, value });
  }),
  testCase("what is not there is null, and neither a swap nor a delete invents it", async (open) => {
    const store = await open();
    equal(await store.get("missing"), null);
    equal(await store.findByName("missing"), null);
    equal(await store.compareAndSwap("missing", 1, { dueAt: null, value: {} }), false);
    equal(await store.delete("missing", 1), false);
    equal(await store.get("missing"), null);
  }),
  testCase("an id and a name are taken once", async (open) => {
    const store = await open();
    await put(store, "a", { name: "one" });
    equal(await store.insert({ id: "a", name: "two", dueAt: null, value: {} }), "id-taken");
    equal(await store.insert({ id: "b", name: "one", dueAt: null, value: {} }), "name-taken");
    equal(await store.get("b"), null);
    same((await store.get("a"))?.value, { note: "a" });
  }),
  testCase("a name is free again after its record was deleted", async (open) => {
    const store = await open();
    await put(store, "a", { name: "one" });
    equal(await store.delete("a", 1), true);
    equal(await store.insert({ id: "b", name: "one", dueAt: null, value: {} }), "inserted");
  }),
  testCase("a swap on the current version writes and raises it by one", async (open) => {
    const store = await open();
    await put(store, "a");
    equal(await store.compareAndSwap("a", 1, { dueAt: 9, value: { note: "new" } }), true);
    same(await store.get("a"), { id: "a", name: "name-a", version: 2, dueAt: 9, value: { note: "new" } });
  }),
  testCase("a swap or delete on an old or a future version writes nothing", async (open) => {
    const store = await open();
    await put(store, "a");
    await store.compareAndSwap("a", 1, { dueAt: null, value: { note: "second" } });
    for (const version of [0, 1, 3]) {
      equal(await store.compareAndSwap("a", version, { dueAt: 1, value: { note: "stale" } }), false);
      equal(await store.delete("a", version), false);
    }
    same(await store.get("a"), {
      id: "a",
      name: "name-a",
      version: 2,
      dueAt: null,
      value: { note: "second" },
    });
  }),
  testCase("of many connections that swap from one version exactly one wins", async (open) => {
    const stores = await Promise.all(Array.from({ length: 8 }, open));
    await put(stores[0] as RecordStore, "a");
    const wins = await Promise.all(
      stores.map((store, index) => store.compareAndSwap("a", 1, { dueAt: null, value: { winner: index } })),
    );
    equal(wins.filter(Boolean).length, 1);
    same((await stores[3]?.get("a"))?.value, { winner: wins.indexOf(true) });
  }),
  testCase("two connections that retry on conflict lose no update", async (open) => {
    const stores = [await open(), await open()];
    await put(stores[0] as RecordStore, "a", { value: { count: 0 } });
    await Promise.all(stores.map((store) => increment(store, "a", 50)));
    same((await stores[0]?.get("a"))?.value, { count: 100 });
    equal((await stores[1]?.get("a"))?.version, 101);
  }),
  testCase("a listing goes through all records once, page by page, in the order of ids", async (open) => {
    const store = await open();
    const ids = Array.from({ length: 23 }, (_, index) => `id-${String(index).padStart(3, "0")}`);
    for (const id of [...ids].reverse()) await put(store, id);
    for (const limit of [1, 5, 22, 23, 24]) same(await listIds(store, limit), ids);
  }),
  testCase("a page is not upset by records that come and go between two calls", async (open) => {
    const store = await open();
    for (const id of ["b", "d", "f"]) await put(store, id);
    const first = await store.list({ limit: 2 });
    same(first.items.map(idOf), ["b", "d"]);
    await put(store, "a");
    await put(store, "e");
    await store.delete("d", 1);
    const second = await store.list({ after: first.next ?? "", limit: 2 });
    same(second.items.map(idOf), ["e", "f"]);
    equal(second.next, null);
  }),
  testCase(
    "what is due comes by instant, at the instant and not before, and never without one",
    async (open) => {
      const store = await open();
      await put(store, "never", { dueAt: null });
      await put(store, "late", { dueAt: 300 });
      await put(store, "early", { dueAt: 100 });
      await put(store, "exact", { dueAt: 200 });
      same((await due(store, 99, 9)).map(idOf), []);
      same((await due(store, 200, 9)).map(idOf), ["early", "exact"]);
      same((await due(store, 999, 2)).map(idOf), ["early", "exact"]);
      equal(await store.earliestDue(), 100);
    },
  ),
  testCase("a swap moves the due instant, and a delete takes it away", async (open) => {
    const store = await open();
    equal(await store.earliestDue(), null);
    await put(store, "a", { dueAt: 100 });
    await store.compareAndSwap("a", 1, { dueAt: 500, value: {} });
    equal(await store.earliestDue(), 500);
    same(await due(store, 499, 9), []);
    await store.compareAndSwap("a", 2, { dueAt: null, value: {} });
    equal(await store.earliestDue(), null);
    await store.compareAndSwap("a", 3, { dueAt: 7, value: {} });
    await store.delete("a", 4);
    equal(await store.earliestDue(), null);
  }),
  testCase("what one connection wrote another one reads, also after the first was closed", async (open) => {
    const first = await open();
    await put(first, "a");
    await first.close();
    const second = await open();
    equal((await second.get("a"))?.version, 1);
  }),
];

/** What a store must do that claims due work for one gateway at a time. */
export const claimConformance: readonly ConformanceCase[] = [
  testCase(
    "a claim keeps what is due from others until it ends, and not from whoever made it",
    async (open) => {
      const [one, other] = [await open(), await open()];
      await put(one, "later", { dueAt: 900 });
      await put(one, "second", { dueAt: 200 });
      await put(one, "first", { dueAt: 100 });
      await put(one, "never", { dueAt: null });
      const claim = { now: 300, limit: 9, owner: "one", until: 500 };
      same((await one.claimDue(claim)).map(idOf), ["first", "second"]);
      same((await one.claimDue(claim)).map(idOf), ["first", "second"]);
      same((await other.claimDue({ ...claim, owner: "other" })).map(idOf), []);
      same((await other.claimDue({ ...claim, owner: "other", now: 499, until: 700 })).map(idOf), []);
      same((await other.claimDue({ ...claim, owner: "other", now: 500, until: 700 })).map(idOf), [
        "first",
        "second",
      ]);
      same((await one.claimDue({ ...claim, now: 501, until: 800 })).map(idOf), []);
    },
  ),
  testCase("a claim is no write, stops no write, and ends with the next one", async (open) => {
    const [one, other] = [await open(), await open()];
    await put(one, "a", { dueAt: 100 });
    same((await one.claimDue({ now: 100, limit: 1, owner: "one", until: 500 })).map(idOf), ["a"]);
    equal((await other.get("a"))?.version, 1);
    equal(await other.compareAndSwap("a", 1, { dueAt: 150, value: {} }), true);
    same((await other.claimDue({ now: 200, limit: 9, owner: "other", until: 600 })).map(idOf), ["a"]);
    equal(await one.delete("a", 2), true);
    same(await other.claimDue({ now: 999, limit: 9, owner: "other", until: 1999 }), []);
  }),
  testCase("of what is due the next page begins after the last of the one before", async (open) => {
    const store = await open();
    for (const [id, dueAt] of [
      ["c", 20],
      ["a", 20],
      ["b", 20],
      ["z", 10],
      ["d", 30],
    ] as const)
      await put(store, id, { dueAt });
    const claim = { now: 50, limit: 2, owner: "one", until: 100 };
    same((await store.claimDue(claim)).map(idOf), ["z", "a"]);
    same((await store.claimDue({ ...claim, after: { id: "a", dueAt: 20 } })).map(idOf), ["b", "c"]);
    same((await store.claimDue({ ...claim, after: { id: "c", dueAt: 20 } })).map(idOf), ["d"]);
    same((await store.claimDue({ ...claim, after: { id: "d", dueAt: 30 } })).map(idOf), []);
  }),
  testCase("of what is due a claim takes the earliest first, and leaves the rest to others", async (open) => {
    const [one, other] = [await open(), await open()];
    for (const dueAt of [40, 10, 30, 20]) await put(one, `at-${dueAt}`, { dueAt });
    const claim = { now: 50, limit: 2, until: 100 };
    same((await one.claimDue({ ...claim, owner: "one" })).map(idOf), ["at-10", "at-20"]);
    same((await other.claimDue({ ...claim, owner: "other" })).map(idOf), ["at-30", "at-40"]);
  }),
];

function testCase(name: string, run: ConformanceCase["run"]): ConformanceCase {
  return { name, run };
}

async function put(store: RecordStore, id: string, fields: Partial<StoredRecord> = {}): Promise<void> {
  const result = await store.insert({ id, name: `name-${id}`, dueAt: null, value: { note: id }, ...fields });
  equal(result, "inserted");
}

async function increment(store: RecordStore, id: string, times: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const found = await store.get(id);
    if (found === null) throw new Error(`record ${id} is gone`);
    const count = found.value["count"] as number;
    // Lets the other one in between the read and the write.
    await new Promise((resolve) => setImmediate(resolve));
    if (await store.compareAndSwap(id, found.version, { dueAt: null, value: { count: count + 1 } }))
      done += 1;
  }
}

async function listIds(store: RecordStore, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.list({ after, limit });
    ids.push(...page.items.map(idOf));
    if (page.next === null) return ids;
    after = page.next;
  }
}

/** What is due, by claims that the next call gets again. */
function due(store: RecordStore, now: number, limit: number): Promise<readonly StoredRecord[]> {
  return store.claimDue({ now, limit, owner: "looker", until: now + 1 });
}

function idOf(record: StoredRecord): string {
  return record.id;
}

function equal(actual: unknown, expected: unknown): void {
  if (!Object.is(actual, expected)) throw new Error(`expected ${String(expected)}, got ${String(actual)}`);
}

function same(actual: unknown, expected: unknown): void {
  const [found, wanted] = [sorted(actual), sorted(expected)];
  if (found !== wanted) throw new Error(`expected ${wanted}, got ${found}`);
}

/** JSON with sorted keys: stores may keep objects in an order of their own. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
