import { beforeEach, describe, expect, it } from "vitest";
import { MemoryRecordStore, VirtualClock } from "../testing/index.js";
import { present, type Observation } from "./observation.js";
import type { ObservationSource } from "./ports.js";
import type { ReconcilerOptions } from "./reconciler-options.js";
import { Reconciler } from "./reconciler.js";
import type { SandboxRecord } from "./record.js";

const ready: Observation = { ...present(null), running: true, ready: true, readiness: "signal" };

let clock: VirtualClock;
let store: MemoryRecordStore;
beforeEach(() => {
  clock = new VirtualClock();
  store = new MemoryRecordStore();
});

const source: ObservationSource = {
  list: () => Promise.resolve({ items: [], cursor: null }),
  get: (id) => Promise.resolve({ id, observation: ready }),
  async *watch() {},
};

const make = (options: Partial<ReconcilerOptions> = {}): Reconciler =>
  new Reconciler({ store, source, clock, ...options });

const starting = (): SandboxRecord => ({ phase: "Starting", desired: "running", since: clock.now() });

describe("a listing whose cursors lead back", () => {
  const circle = { "": "a", a: "b", b: "c", c: "a" } as const;
  const list = (cursor: string | null) =>
    Promise.resolve({ items: [], cursor: circle[(cursor ?? "") as keyof typeof circle] });

  it("of a source is no complete one", async () => {
    const report = await make({ source: { ...source, list } }).sweep();
    expect(report).toMatchObject({ seen: 0, complete: false, error: { field: "source.list cursor" } });
    expect(String(report.error)).toContain('null on the last page, else a new text, got "a"');
  });

  it("of a store is refused", async () => {
    store.list = list;
    await expect(make().sweep()).rejects.toThrow(
      'store.list cursor must be null on the last page, else a new text, got "a"',
    );
  });
});

describe("a store that breaks off in the middle of a sweep", () => {
  const ids = ["a", "b", "c"];

  beforeEach(() => {
    for (const id of ids) store.put(id, starting());
    const first = store.list.bind(store);
    store.list = async (cursor) => {
      if (cursor !== null) throw new Error("away");
      return { ...(await first(null)), cursor: "more" };
    };
  });

  it("is waited for with every look that the first pages asked for", async () => {
    await expect(make({ concurrency: 1 }).sweep()).rejects.toThrow("away");
    expect(ids.map((id) => store.peek(id)?.phase)).toEqual(["Ready", "Ready", "Ready"]);
  });

  it("leaves no look that begins after the end", async () => {
    const slow: ObservationSource = {
      ...source,
      get: (id) =>
        new Promise((resolve) =>
          clock.schedule(clock.now() + 100, () => resolve({ id, observation: ready })),
        ),
    };
    const reconciler = make({ concurrency: 1, source: slow });
    const swept = reconciler.sweep().catch(String);
    await clock.advanceAsync(50);
    let writes: number | null = null;
    const closed = reconciler.close().then(() => {
      ({ writes } = store);
    });
    await clock.advanceAsync(1000);
    expect(await swept).toContain("away");
    await closed;
    expect(writes).toBe(store.writes);
  });
});

describe("a record of which nothing can be decided", () => {
  it("is told as a failed look, and does not end the sweep of the others", async () => {
    store.put("bad", {} as SandboxRecord);
    store.put("good", starting());
    const { seen, outcomes } = await make().sweep();
    expect(seen).toBe(2);
    expect(outcomes).toMatchObject([
      { id: "bad", outcome: "failed", error: { code: "INVALID_OPTION", field: "record.phase" } },
      { id: "good", outcome: "written", record: { phase: "Ready" } },
    ]);
  });

  it("is one as well whose session cannot be told", async () => {
    for (const id of ["bad", "good"]) store.put(id, starting());
    const session = (id: string): null => {
      if (id === "bad") throw new Error("no session");
      return null;
    };
    const { outcomes } = await make({ session }).sweep();
    expect(outcomes.map(({ id, outcome }) => [id, outcome])).toEqual([
      ["bad", "failed"],
      ["good", "written"],
    ]);
  });
});
