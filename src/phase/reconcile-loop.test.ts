import { getEventListeners } from "node:events";
import { beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../clock/index.js";
import { MemoryRecordStore, VirtualClock } from "../testing/index.js";
import { absent, present, type Observation } from "./observation.js";
import type { ObservationSource, WatchEvent } from "./ports.js";
import type { ReconcilerOptions } from "./reconciler-options.js";
import { Reconciler } from "./reconciler.js";
import type { SandboxRecord } from "./record.js";

const ready: Observation = { ...present(null), running: true, ready: true, readiness: "signal" };
const starting: SandboxRecord = { phase: "Starting", desired: "running", since: 0 };

let clock: VirtualClock;
let zero: number;
let store: MemoryRecordStore;
/** When the backend was listed, and when its stream was opened, in milliseconds from the start. */
let lists: number[];
let streams: number[];
/** Whether the backend answers lists. */
let isAway: boolean;
/** The news of each stream, after which it breaks or ends. */
let news: WatchEvent[][];
let looks: string[];
/** What the loop told that it failed with. */
let told: string[];
beforeEach(() => {
  clock = new VirtualClock();
  zero = clock.now();
  store = new MemoryRecordStore();
  [lists, streams, isAway, news, looks, told] = [[], [], false, [], [], []];
});

const source: ObservationSource = {
  list: () => {
    lists.push(clock.now() - zero);
    return isAway ? Promise.reject(new Error("away")) : Promise.resolve({ items: [], cursor: null });
  },
  get: (id) => {
    looks.push(id);
    return Promise.resolve({ id, observation: ready });
  },
  // eslint-disable-next-line @typescript-eslint/require-await -- the stream of a backend that says it all at once
  async *watch() {
    streams.push(clock.now() - zero);
    yield* news.shift() ?? [];
  },
};

const start = (options: Partial<ReconcilerOptions> = {}): Reconciler => {
  const onError = (error: unknown): unknown => told.push(String(error));
  const reconciler = new Reconciler({ store, source, clock, onError, ...options });
  reconciler.start();
  return reconciler;
};

describe("sweeps", () => {
  it("come once a minute while all is well", async () => {
    const reconciler = start();
    await clock.advanceAsync(180_000);
    expect(lists).toEqual([0, 60_000, 120_000, 180_000]);
    await reconciler.close();
  });

  it("come after waits that double up to the cap while the backend is away, and anew from the first", async () => {
    isAway = true;
    const reconciler = start();
    await clock.advanceAsync(90_000);
    expect(lists).toEqual([0, 2000, 6000, 14_000, 30_000, 60_000, 90_000]);
    expect(told).toEqual(lists.map(() => "Error: away"));
    isAway = false;
    await clock.advanceAsync(30_000);
    isAway = true;
    await clock.advanceAsync(62_000);
    expect(lists.slice(7)).toEqual([120_000, 180_000, 182_000]);
    await reconciler.close();
  });

  it("come no later for a backend that is away than for one that is there", async () => {
    isAway = true;
    const reconciler = start({ sweepEveryMs: 3000 });
    await clock.advanceAsync(11_000);
    expect(lists).toEqual([0, 2000, 5000, 8000, 11_000]);
    await reconciler.close();
  });

  it("count as failed where a record could not be written, or the store does not answer", async () => {
    store.put("sb", starting);
    store.compareAndSwap = () => Promise.reject(new Error("disk full"));
    const reconciler = start();
    await clock.advanceAsync(2000);
    store.list = () => Promise.reject(new Error("store away"));
    await clock.advanceAsync(12_000);
    expect(lists).toEqual([0, 2000, 6000, 14_000]);
    expect(told).toEqual(["Error: store away", "Error: store away"]);
    await reconciler.close();
  });

  it("do not come early on a clock that rings early", async () => {
    const early: Clock = {
      now: () => clock.now(),
      schedule: (at, callback) => clock.schedule(at - 1, callback),
    };
    const reconciler = start({ clock: early, sweepEveryMs: 1000 });
    await clock.advanceAsync(999);
    expect(lists).toEqual([0]);
    await clock.advanceAsync(1);
    expect(lists).toEqual([0, 1000]);
    await reconciler.close();
    expect(clock.timers).toBe(0);
  });

  it("leave nothing on the signal that all of them share", async () => {
    const counts: number[] = [];
    const counting: ObservationSource = {
      ...source,
      list: (_, signal) => {
        counts.push(getEventListeners(signal, "abort").length);
        return Promise.resolve({ items: [], cursor: null });
      },
    };
    const reconciler = start({
      source: counting,
      sweepEveryMs: 1000,
      retryInitialMs: 1000,
      retryCapMs: 1000,
    });
    await clock.advanceAsync(20_000);
    expect(counts.at(-1)).toBeLessThanOrEqual(2);
    await reconciler.close();
  });
});

describe("a stream of news", () => {
  it("that ends without any is opened again after waits that double, and at once slower after some came", async () => {
    news = [[], [], [], [{ type: "changed", id: "sb" }]];
    const reconciler = start();
    await clock.advanceAsync(20_000);
    expect(streams).toEqual([0, 2000, 6000, 14_000, 16_000, 20_000]);
    expect(looks).toEqual([]);
    await reconciler.close();
  });

  it("leads to a look at each sandbox, and to another one for what comes after that began", async () => {
    store.put("a", starting);
    store.put("b", starting);
    news = [
      [
        { type: "changed", id: "a" },
        { type: "changed", id: "b" },
        { type: "changed", id: "a" },
      ],
    ];
    // The sweep of the start finds nothing to look at.
    store.list = () => Promise.resolve({ items: [], cursor: null });
    const reconciler = start();
    await clock.advanceAsync(1000);
    expect(looks).toEqual(["a", "b", "a"]);
    expect([store.peek("a")?.phase, store.peek("b")?.phase]).toEqual(["Ready", "Ready"]);
    await reconciler.close();
  });

  it("of a change removes no record, and of a deletion does", async () => {
    const gone: ObservationSource = {
      ...source,
      get: (id) => Promise.resolve({ id, observation: absent(null) }),
    };
    for (const id of ["changed", "deleted"]) store.put(id, { ...starting, phase: "Provisioning" });
    store.list = () => Promise.resolve({ items: [], cursor: null });
    news = [
      [
        { type: "changed", id: "changed" },
        { type: "deleted", id: "deleted" },
      ],
    ];
    const reconciler = start({ source: gone });
    await clock.advanceAsync(10);
    expect([store.peek("changed")?.phase, store.peek("deleted")]).toEqual(["Provisioning", null]);
    await reconciler.close();
  });

  it("goes on where a look failed", async () => {
    store.put("a", starting);
    store.list = () => Promise.resolve({ items: [], cursor: null });
    const get = store.get.bind(store);
    let failures = 1;
    store.get = (id) => (failures-- > 0 ? Promise.reject(new Error("store away")) : get(id));
    news = [[{ type: "changed", id: "a" }], [{ type: "changed", id: "a" }]];
    const reconciler = start();
    await clock.advanceAsync(2000);
    expect(store.peek("a")?.phase).toBe("Ready");
    expect(told).toEqual(["Error: store away"]);
    await reconciler.close();
  });

  it("that breaks is told, and what breaks off because the reconciler ends is not", async () => {
    const breaking: ObservationSource = {
      ...source,
      // eslint-disable-next-line @typescript-eslint/require-await -- a stream that is never one
      async *watch() {
        streams.push(clock.now() - zero);
        throw new Error("no stream");
      },
    };
    const reconciler = start({ source: breaking });
    await clock.advanceAsync(3000);
    expect([streams, told]).toEqual([
      [0, 2000],
      ["Error: no stream", "Error: no stream"],
    ]);
    await reconciler.close();

    const cut: ObservationSource = {
      ...source,
      list: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reject(new Error("cut off"));
          });
        }),
    };
    told = [];
    const closing = start({ source: cut });
    await clock.advanceAsync(10);
    await closing.close();
    expect(told).toEqual([]);
  });

  it("after the end of the reconciler is nobody's", async () => {
    store.put("a", starting);
    store.list = () => Promise.resolve({ items: [], cursor: null });
    let tell = (): void => undefined;
    const told = new Promise<void>((resolve) => (tell = resolve));
    const late: ObservationSource = {
      ...source,
      async *watch() {
        await told;
        yield { type: "changed", id: "a" };
        yield { type: "changed", id: "b" };
      },
    };
    const reconciler = start({ source: late });
    await clock.advanceAsync(10);
    const closed = reconciler.close();
    tell();
    await closed;
    expect(looks).toEqual([]);
  });
});

describe("the end of the loop", () => {
  it("comes at once, whatever it waits for, and nothing is left on the clock or the signal", async () => {
    const reconciler = start();
    await clock.advanceAsync(10);
    expect(clock.timers).toBeGreaterThan(0);
    await reconciler.close();
    expect(clock.timers).toBe(0);
    await clock.advanceAsync(600_000);
    expect([lists.length, streams.length]).toEqual([1, 1]);
  });

  it("waits for the looks that news began, and for those that wait for them", async () => {
    for (const id of ["a", "b"]) store.put(id, starting);
    store.list = () => Promise.resolve({ items: [], cursor: null });
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const slow: ObservationSource = {
      ...source,
      get: async (id) => {
        await answered;
        return { id, observation: absent(null) };
      },
    };
    news = [
      [
        { type: "changed", id: "a" },
        { type: "changed", id: "b" },
      ],
    ];
    const reconciler = start({ source: slow, concurrency: 1 });
    await clock.advanceAsync(10);
    let isClosed = false;
    const closed = reconciler.close().then(() => (isClosed = true));
    await clock.advanceAsync(10);
    expect(isClosed).toBe(false);
    answer();
    await closed;
    expect([store.peek("a")?.phase, store.peek("b")?.phase]).toEqual(["Error", "Error"]);
  });
});
