import { systemClock } from "slipway";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ChangeFeed } from "../src/store/postgres/change-feed.js";
import { eventually } from "../src/testing/eventually.js";
import { because, missing, PostgresBench } from "./postgres-bench.js";
import type { PostgresServer } from "./postgres-server.js";

const postgres = new PostgresBench();
const { open } = postgres;
let server: PostgresServer | null = null;

beforeAll(async () => {
  server = await postgres.start();
}, 120_000);

afterEach(() => postgres.closeOpened());

afterAll(() => postgres.dispose());

const freshUrl = () => postgres.freshUrl();
const openStore = (url: string) => postgres.openStore(url);

describe.skipIf(missing !== null)(`the PostgreSQL store${because()}`, () => {
  it("tells of every write, of none that only claims, and of the gap after a break", async () => {
    if (server === null) return;
    const url = await freshUrl();
    const store = await openStore(url);
    const heard: string[] = [];
    const hearing = (last: string) =>
      eventually(`news of ${last}`, () => Promise.resolve(heard.at(-1) === last));
    let gaps = 0;
    const feed = new ChangeFeed({
      database: { url },
      clock: systemClock,
      onChange: ({ id, version }) => heard.push(`${id} ${version}`),
      onGap: () => (gaps += 1),
    });
    open.push(feed);
    await eventually("the first gap", () => Promise.resolve(gaps === 1));
    await store.insert({ id: "a", name: "a", dueAt: 1, value: {} });
    await hearing("a 1");
    await store.claimDue({ now: 5, limit: 9, owner: "me", until: 9 });
    await store.compareAndSwap("a", 1, { dueAt: null, value: {} });
    await hearing("a 2");
    await store.compareAndSwap("a", 1, { dueAt: null, value: { lost: true } });
    await store.delete("a", 2);
    await hearing("a 3");
    await store.delete("a", 2);
    await store.insert({ id: "an end", name: "end", dueAt: null, value: {} });
    await hearing("an end 1");
    expect(heard).toEqual(["a 1", "a 2", "a 3", "an end 1"]);
    // Many at once are told together, the latest of each.
    const many = Array.from({ length: 50 }, (_, index) => `many-${index}`);
    await Promise.all(many.map((id) => store.insert({ id, name: id, dueAt: null, value: {} })));
    await eventually("all of them", () => Promise.resolve(many.every((id) => heard.includes(`${id} 1`))));
    await server.down("immediate");
    await server.up();
    await eventually("the gap after the break", () => Promise.resolve(gaps === 2));
    await store.insert({ id: "b", name: "b", dueAt: null, value: {} });
    await hearing("b 1");
  });

  it("tells of a write whose outcome nobody knows", async () => {
    const url = await freshUrl();
    const store = await openStore(url);
    await store.insert({ id: "a", name: "a", dueAt: null, value: {} });
    const heard: string[] = [];
    const feed = new ChangeFeed({
      database: { url },
      clock: systemClock,
      onChange: ({ id, version }) => heard.push(`${id} ${version}`),
      onGap: () => heard.push("gap"),
    });
    open.push(feed);
    await eventually("the feed", () => Promise.resolve(heard.includes("gap")));
    // The write is done, and its connection breaks before anybody hears so.
    const { query } = pg.Pool.prototype;
    let broken = 0;
    pg.Pool.prototype.query = async function (this: pg.Pool, ...args: [string, unknown[]]) {
      const result = await (query as (...given: unknown[]) => Promise<unknown>).apply(this, args);
      broken += 1;
      // The write, and the first try to tell of it.
      if (broken <= 2) throw new Error("Connection terminated unexpectedly");
      return result;
    } as unknown as typeof query;
    try {
      await expect(store.compareAndSwap("a", 1, { dueAt: null, value: { done: true } })).rejects.toThrow(
        "terminated",
      );
      await eventually("news of it", () => Promise.resolve(heard.includes("a 2")));
    } finally {
      pg.Pool.prototype.query = query;
    }
    expect(await store.get("a")).toMatchObject({ version: 2, value: { done: true } });
  });
});
