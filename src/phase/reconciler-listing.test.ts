import { describe, expect, it } from "vitest";
import {
  anewForEachTest,
  asked,
  make,
  ready,
  record,
  reported,
  seen,
  source,
  store,
} from "../../test/phase/looks.js";
import type { ObservationSource } from "./ports.js";

anewForEachTest();

describe("a sweep", () => {
  it("looks at no more at once than it may", async () => {
    for (let index = 0; index < 10; index += 1) {
      store.put(`sb-${index}`, record("Starting"));
      seen.set(`sb-${index}`, ready);
    }
    let [running, most] = [0, 0];
    const get: ObservationSource["get"] = async (id) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return { id, observation: ready };
    };
    const report = await make({ source: { ...source, get }, concurrency: 3 }).sweep();
    expect([most, report.seen, report.outcomes.length]).toEqual([3, 10, 10]);
    expect(report).toMatchObject({ complete: true, error: null });
  });

  it("makes nothing of a list that is behind a direct look", async () => {
    store.put("sb", record("Starting"));
    const get: ObservationSource["get"] = (id) => Promise.resolve({ id, observation: ready });
    const reconciler = make({ source: { ...source, get } });
    await reconciler.reconcile("sb");
    const settled = store.peek("sb");
    expect(await reconciler.sweep()).toEqual({ seen: 1, outcomes: [], complete: true, error: null });
    expect(store.peek("sb")).toBe(settled);
  });

  it("of a backend that does not list says so, and looks at nothing", async () => {
    store.put("sb", record("Starting"));
    const error = new Error("away");
    const report = await make({ source: { ...source, list: () => Promise.reject(error) } }).sweep();
    expect(report).toEqual({ seen: 0, outcomes: [], complete: false, error });
    expect(asked).toEqual([]);
  });

  it("tells of a record that cannot be written, and goes on", async () => {
    for (const id of ["a", "b"]) {
      store.put(id, record("Starting"));
      seen.set(id, ready);
    }
    const error = new Error("disk full");
    const swap = store.compareAndSwap.bind(store);
    store.compareAndSwap = (id, version, next) =>
      id === "a" ? Promise.reject(error) : swap(id, version, next);
    const failed = { id: "a", outcome: "failed", record: null, decision: null, error };
    const { outcomes } = await make().sweep();
    expect(outcomes).toEqual([failed, expect.objectContaining({ id: "b", outcome: "written" })]);
    expect(reported).toContainEqual(failed);
  });

  it("hands the backend a signal that aborts at the end", async () => {
    const signals: AbortSignal[] = [];
    const list: ObservationSource["list"] = (_, signal) => {
      signals.push(signal);
      return Promise.resolve({ items: [], cursor: null });
    };
    const reconciler = make({ source: { ...source, list } });
    await reconciler.sweep();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await reconciler[Symbol.asyncDispose]();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe("a listing that would not come to its end", () => {
  const pages = (cursor: unknown) => () => Promise.resolve({ items: [], cursor: cursor as string | null });
  const expected = "must be null on the last page, else a new text, got";

  it.each([
    [undefined, "undefined"],
    [7, "7"],
    ["same", '"same"'],
  ])("is refused by its cursor %j, of a source", async (cursor, shown) => {
    const listing = { ...source, list: pages(cursor) };
    const report = await make({ source: listing }).sweep();
    expect(report).toMatchObject({ seen: 0, complete: false, error: { code: "INVALID_OPTION" } });
    expect(String(report.error)).toContain(`source.list cursor ${expected} ${shown}`);
  });

  it.each([undefined, 7, "same"])("is refused by its cursor %j, of a store", async (cursor) => {
    store.list = pages(cursor);
    await expect(make().sweep()).rejects.toThrow(`store.list cursor ${expected}`);
  });
});
