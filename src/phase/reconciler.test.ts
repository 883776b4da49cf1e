import { describe, expect, it } from "vitest";
import { isSlipwayError } from "../errors.js";
import { MemoryRecordStore, VirtualClock } from "../testing/index.js";
import { KeyedLock, Limiter } from "./keyed-lock.js";
import { absent, present, type Observation } from "./observation.js";
import type { ObservationSource, WatchEvent } from "./ports.js";
import type { ReconcileOutcome } from "./reconcile-outcome.js";
import type { ReconcilerOptions } from "./reconciler-options.js";
import { Reconciler } from "./reconciler.js";
import type { SandboxRecord } from "./record.js";

const ready: Observation = { ...present(null), running: true, ready: true, readiness: "signal" };

/** A backend in memory, with pages of two, a switch to fail, and a stream of news. */
class Backend implements ObservationSource {
  readonly seen = new Map<string, Observation>();
  lists = 0;
  gets = 0;
  watches = 0;
  failing = false;
  #news: ((event: WatchEvent | null) => void) | null = null;

  list(cursor: string | null): ReturnType<ObservationSource["list"]> {
    this.lists += cursor === null ? 1 : 0;
    if (this.failing) return Promise.reject(new Error("no answer"));
    const ids = [...this.seen.keys()].sort();
    const from = cursor === null ? 0 : Number(cursor);
    const items = ids.slice(from, from + 2).map((id) => ({ id, observation: this.seen.get(id)! }));
    return Promise.resolve({ items, cursor: from + 2 < ids.length ? String(from + 2) : null });
  }

  get(id: string): ReturnType<ObservationSource["get"]> {
    this.gets += 1;
    if (this.failing) return Promise.reject(new Error("no answer"));
    return Promise.resolve({ id, observation: this.seen.get(id) ?? absent(null) });
  }

  async *watch(signal: AbortSignal): AsyncIterable<WatchEvent> {
    this.watches += 1;
    if (this.failing) throw new Error("no stream");
    while (!signal.aborted) {
      const event = await new Promise<WatchEvent | null>((resolve) => {
        this.#news = resolve;
        signal.addEventListener("abort", () => resolve(null), { once: true });
      });
      if (event === null) return;
      yield event;
    }
  }

  tell(event: WatchEvent | null): void {
    this.#news?.(event);
  }
}

function world(more: Partial<ReconcilerOptions> = {}): {
  backend: Backend;
  store: MemoryRecordStore;
  clock: VirtualClock;
  reconciler: Reconciler;
  outcomes: ReconcileOutcome[];
} {
  const backend = new Backend();
  const store = new MemoryRecordStore({ pageSize: 3 });
  const clock = new VirtualClock();
  const outcomes: ReconcileOutcome[] = [];
  const reconciler = new Reconciler({
    store,
    source: backend,
    clock,
    onOutcome: (outcome) => {
      outcomes.push(outcome);
      throw new Error("a listener that throws");
    },
    ...more,
  });
  return { backend, store, clock, reconciler, outcomes };
}

const record = (phase: SandboxRecord["phase"], since = 0): SandboxRecord => ({
  phase,
  desired: "running",
  since,
});

describe("a sweep", () => {
  it("goes through every page of records and of the backend, and writes once", async () => {
    const { backend, store, reconciler } = world();
    for (let i = 0; i < 10; i += 1) {
      store.put(`sb-${i}`, record("Starting"));
      backend.seen.set(`sb-${i}`, ready);
    }
    expect(await reconciler.sweep()).toMatchObject({ seen: 10, complete: true });
    for (let i = 0; i < 10; i += 1) expect(store.peek(`sb-${i}`)?.phase).toBe("Ready");
    const gets = backend.gets;
    expect((await reconciler.sweep()).outcomes).toEqual([]);
    expect(store.writes).toBe(10);
    // Where the list agrees with the record nothing is looked at again.
    expect(backend.gets).toBe(gets);
  });

  it("prunes nothing when the backend did not list to its end", async () => {
    const { backend, store, clock, reconciler } = world();
    store.put("sb", record("Provisioning", clock.now() - 10_000_000));
    backend.failing = true;
    const report = await reconciler.sweep();
    expect(report.complete).toBe(false);
    expect(report.error).toBeInstanceOf(Error);
    expect(store.peek("sb")).not.toBeNull();
  });

  it("does not prune in the grace period, nor for a clock that was set back", async () => {
    const { store, clock, reconciler } = world();
    store.put("young", record("Provisioning", clock.now() - 299_999));
    store.put("future", record("Provisioning", clock.now() + 10_000_000));
    store.put("old", record("Provisioning", clock.now() - 300_000));
    await reconciler.sweep();
    expect([store.peek("young"), store.peek("future"), store.peek("old")].map((one) => one === null)).toEqual(
      [false, false, true],
    );
  });

  it("in which nothing changed writes nothing, looks at nothing twice and keeps every record", async () => {
    const { backend, store, reconciler } = world();
    for (let i = 0; i < 300; i += 1) {
      store.put(`sb-${i}`, record(i % 2 === 0 ? "Starting" : "Completed"));
      if (i % 2 === 0) backend.seen.set(`sb-${i}`, ready);
    }
    await reconciler.sweep();
    const { writes } = store;
    const { gets } = backend;
    const before = Array.from({ length: 300 }, (_, i) => store.peek(`sb-${i}`));
    expect(await reconciler.sweep()).toMatchObject({ seen: 300, outcomes: [] });
    expect(store.writes).toBe(writes);
    expect(backend.gets).toBe(gets);
    before.forEach((one, i) => expect(store.peek(`sb-${i}`)).toBe(one));
  });

  it("goes on past a record that cannot be written", async () => {
    class Broken extends MemoryRecordStore {
      override compareAndSwap(
        id: string,
        version: string | number,
        next: SandboxRecord,
      ): ReturnType<MemoryRecordStore["compareAndSwap"]> {
        return id === "sb-0"
          ? Promise.reject(new Error("disk full"))
          : super.compareAndSwap(id, version, next);
      }
    }
    const store = new Broken({ pageSize: 1 });
    const { backend, reconciler } = world({ store });
    for (const id of ["sb-0", "sb-1", "sb-2"]) {
      store.put(id, record("Starting"));
      backend.seen.set(id, ready);
    }
    const { outcomes } = await reconciler.sweep();
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["failed", "written", "written"]);
    expect(outcomes[0]?.error).toBeInstanceOf(Error);
    await expect(reconciler.reconcile("sb-0")).rejects.toThrow("disk full");
  });

  it("removes what was deleted, and keeps what was promised as an error", async () => {
    const { store, reconciler, outcomes } = world();
    store.put("deleted", { ...record("Deleting"), desired: "deleted" });
    store.put("stopped", { ...record("Stopped"), desired: "stopped" });
    await reconciler.sweep();
    expect(store.peek("deleted")).toBeNull();
    expect(store.peek("stopped")).toMatchObject({ phase: "Error", reason: "ComputeResourceMissing" });
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["removed", "written"]);
  });
});

describe("operations", () => {
  it("take over from one that runs: its signal aborts, and the driver sees them one after the other", async () => {
    const { backend, store, reconciler } = world();
    store.put("sb", { ...record("Stopped"), desired: "stopped" });
    backend.seen.set("sb", { ...present(null), running: false, completed: true, exitCode: 0 });
    const log: string[] = [];
    let entered = (): void => {};
    const running = new Promise<void>((resolve) => (entered = resolve));
    const start = reconciler.operate("sb", "start", {
      call: ({ signal }) => {
        log.push("start");
        entered();
        return new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true }),
        );
      },
    });
    await running;
    const stop = reconciler.operate("sb", "stop", {
      call: () => {
        log.push("stop");
        return Promise.resolve();
      },
    });
    expect((await start).outcome).toBe("overtaken");
    expect((await stop).outcome).toBe("done");
    expect(log).toEqual(["start", "stop"]);
    expect(store.peek("sb")).toMatchObject({ phase: "Stopping", desired: "stopped" });
  });

  it("that are asked for again join the one that runs", async () => {
    const { backend, store, reconciler } = world();
    store.put("sb", record("Ready"));
    backend.seen.set("sb", ready);
    let calls = 0;
    let release = (): void => {};
    const call = (): Promise<void> => {
      calls += 1;
      return new Promise((resolve) => (release = resolve));
    };
    const first = reconciler.operate("sb", "stop", { call });
    while (calls === 0) await Promise.resolve();
    const second = reconciler.operate("sb", "stop", { call });
    for (let i = 0; i < 20; i += 1) await Promise.resolve();
    release();
    expect([(await first).outcome, (await second).outcome]).toEqual(["done", "done"]);
    expect(calls).toBe(1);
  });

  it("that fail are looked into, and those that are refused or missing call nothing", async () => {
    const { backend, store, reconciler } = world();
    const call = (): Promise<never> => Promise.reject(new Error("no"));
    expect((await reconciler.operate("none", "stop", { call })).outcome).toBe("no-record");
    store.put("sb", record("Ready"));
    backend.seen.set("sb", { ...ready, terminating: false });
    expect(await reconciler.operate("sb", "start", { call })).toMatchObject({ outcome: "noop" });
    expect(await reconciler.operate("sb", "stop", { call })).toMatchObject({ outcome: "failed" });
    expect(store.peek("sb")).toMatchObject({ phase: "Ready", desired: "running" });
    store.put("sb", { ...record("Stopping"), desired: "stopped" });
    expect(await reconciler.operate("sb", "start", { call })).toMatchObject({
      outcome: "refused",
      gate: { reason: "Stopping" },
    });
  });
});

describe("the loop", () => {
  it("answers any number of news that come during a look with one more look, by the latest word", async () => {
    const { backend, store, clock, reconciler } = world({ sweepEveryMs: 3_600_000 });
    store.put("sb", record("Starting"));
    backend.seen.set("sb", { ...present(null), running: false, ready: false });
    reconciler.start();
    await clock.advanceAsync(0);
    const { promise: answered, resolve: answer } = withResolver();
    const get = backend.get.bind(backend);
    backend.get = async (id) => {
      await answered;
      return get(id);
    };
    for (let news = 0; news < 100; news += 1) {
      backend.tell({ type: news === 98 ? "deleted" : "changed", id: "sb" });
      await clock.advanceAsync(1);
    }
    backend.seen.set("sb", ready);
    const before = backend.gets;
    answer();
    await clock.advanceAsync(1);
    expect(backend.gets - before).toBe(2);
    expect(store.peek("sb")?.phase).toBe("Ready");
    backend.tell({ type: "changed", id: "sb" });
    await clock.advanceAsync(1);
    expect(backend.gets - before).toBe(3);
    await reconciler.close();
  });

  it("sweeps on the clock, follows news, and opens the stream again", async () => {
    const { backend, store, clock, reconciler } = world({ sweepEveryMs: 10_000, retryInitialMs: 1000 });
    store.put("sb", record("Starting"));
    backend.seen.set("sb", { ...present(null), running: false, ready: false });
    reconciler.start();
    reconciler.start();
    await clock.advanceAsync(0);
    expect(backend.lists).toBe(1);
    backend.seen.set("sb", ready);
    backend.tell({ type: "changed", id: "sb" });
    await clock.advanceAsync(1);
    expect(store.peek("sb")?.phase).toBe("Ready");
    backend.seen.delete("sb");
    backend.tell({ type: "deleted", id: "sb" });
    await clock.advanceAsync(1);
    expect(store.peek("sb")).toBeNull();
    backend.tell(null);
    await clock.advanceAsync(1000);
    expect(backend.watches).toBe(2);
    await clock.advanceAsync(10_000);
    expect(backend.lists).toBe(2);
    await reconciler.close();
    expect(clock.timers).toBe(0);
  });

  it("backs off from a backend that does not answer, and comes back", async () => {
    const { backend, store, clock, reconciler } = world({
      sweepEveryMs: 60_000,
      retryInitialMs: 1000,
      retryCapMs: 4000,
    });
    store.put("sb", record("Starting"));
    backend.failing = true;
    reconciler.start();
    for (const wait of [0, 1000, 2000, 4000, 4000]) await clock.advanceAsync(wait);
    expect(backend.lists).toBe(5);
    expect(backend.watches).toBe(5);
    backend.failing = false;
    backend.seen.set("sb", ready);
    await clock.advanceAsync(4000);
    expect(store.peek("sb")?.phase).toBe("Ready");
    await reconciler[Symbol.asyncDispose]();
    expect(clock.timers).toBe(0);
  });
});

describe("close", () => {
  it("aborts a driver call and waits for it and for what it leaves in the record", async () => {
    const { backend, store, reconciler } = world({});
    store.put("sb", record("Ready"));
    backend.seen.set("sb", ready);
    const order: string[] = [];
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const stop = await new Promise<{ readonly ended: Promise<unknown> }>((called) => {
      const ended = reconciler.operate("sb", "stop", {
        call: async ({ signal }) => {
          signal.addEventListener("abort", () => order.push("aborted"));
          called({ ended });
          await held;
          throw new Error("stopped half-way");
        },
      });
      void ended.then(() => order.push("ended"));
    });
    const closed = reconciler.close().then(() => order.push("closed"));
    expect(order).toEqual(["aborted"]);
    release?.();
    await closed;
    expect(order).toEqual(["aborted", "ended", "closed"]);
    expect(await stop.ended).toMatchObject({ outcome: "failed" });
  });

  it.each(["start", "stop", "delete"] as const)(
    "lets no driver call begin: a %s that is asked for before it, between any two steps, or after it",
    async (operation) => {
      for (let steps = 0; steps < 12; steps += 1) {
        const { backend, store, reconciler } = world({});
        store.put("sb", record(operation === "start" ? "Stopped" : "Ready"));
        backend.seen.set("sb", { ...present(null), running: operation !== "start", completed: false });
        let closed = false;
        const begun: boolean[] = [];
        const call = ({ signal }: { readonly signal: AbortSignal }): Promise<unknown> => {
          begun.push(closed);
          return Promise.reject(signal.aborted ? new Error("aborted") : new Error("failed"));
        };
        const operated = steps === 11 ? null : reconciler.operate("sb", operation, { call });
        for (let step = 0; step < steps && operated !== null; step += 1) await Promise.resolve();
        const closing = reconciler.close();
        closed = true;
        const ended = await (operated ?? reconciler.operate("sb", operation, { call }));
        await closing;
        expect(begun).not.toContain(true);
        if (begun.length === 0) expect(ended.outcome).toBe("overtaken");
      }
    },
  );

  it("waits for a look and a sweep that were asked for, so that the store may be closed", async () => {
    const { backend, store, reconciler } = world({});
    store.put("sb", record("Starting"));
    backend.seen.set("sb", ready);
    const ended: string[] = [];
    void reconciler.reconcile("sb").then(() => ended.push("look"));
    void reconciler.sweep().then(() => ended.push("sweep"));
    await reconciler.close();
    expect(ended.sort()).toEqual(["look", "sweep"]);
  });
});

describe("options and parts", () => {
  it("that are out of range are refused by name", () => {
    for (const [field, value] of [
      ["graceMs", -1],
      ["sweepEveryMs", 0],
      ["concurrency", 1.5],
      ["retryCapMs", Number.NaN],
    ] as const) {
      try {
        world({ [field]: value });
        expect.unreachable();
      } catch (error) {
        expect(isSlipwayError(error) && [error.code, error.field]).toEqual(["INVALID_OPTION", field]);
      }
    }
  });

  it.each(["store", "source", "clock", "session", "backendMatches", "onOutcome"] as const)(
    "that are no %s are refused by name and value",
    (field) => {
      for (const wrong of [{}, [], 5, "x", true, Symbol("s")])
        expect(() => world({ [field]: wrong })).toThrow(
          expect.objectContaining({ code: "INVALID_OPTION", field, value: wrong }),
        );
    },
  );

  it("that are none at all are refused by name", () => {
    for (const options of [undefined, null, 5, "x"])
      expect(() => new Reconciler(options as never)).toThrow(
        expect.objectContaining({
          code: "INVALID_OPTION",
          message: expect.stringContaining("reconciler options must be an object") as string,
        }),
      );
  });

  it("are shown in no message, whatever they say and however they are looked at", () => {
    class PgStore {
      readonly url = "postgres://user:s3cret@host";
    }
    const refuse = (): never => {
      throw new Error("s3cret");
    };
    const hostile = new Proxy({}, { get: refuse, getPrototypeOf: refuse });
    for (const field of ["store", "source", "clock", "session", "backendMatches", "onOutcome"])
      for (const wrong of [new PgStore(), { key: "s3cret" }, "postgres://s3cret", ["s3cret"], hostile])
        expect(() => world({ [field]: wrong })).toThrow(
          expect.objectContaining({
            code: "INVALID_OPTION",
            field,
            message: expect.not.stringContaining("s3cret") as string,
          }),
        );
    expect(() => world({ store: new PgStore() as never })).toThrow(/got PgStore/);
  });

  it("a lock runs one piece of work a key, whatever fails, and forgets idle keys", async () => {
    const lock = new KeyedLock();
    const log: number[] = [];
    const failing = lock.run("a", () => Promise.reject(new Error("first")));
    const second = lock.run("a", () => Promise.resolve(log.push(2)));
    const other = lock.run("b", () => Promise.resolve(log.push(1)));
    await expect(failing).rejects.toThrow("first");
    await Promise.all([second, other]);
    await Promise.resolve();
    await Promise.resolve();
    expect(log).toEqual([1, 2]);
    expect(lock.size).toBe(0);
  });

  it("a limiter never runs more than its limit", async () => {
    const limiter = new Limiter(2);
    let now = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 9 }, () =>
        limiter.run(async () => {
          most = Math.max(most, (now += 1));
          await Promise.resolve();
          now -= 1;
        }),
      ),
    );
    expect(most).toBe(2);
  });
});

describe("operations among other writes", () => {
  const soon = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };

  it("restore what a failed delete leaves, although a look was written while the driver was called", async () => {
    const { backend, store, reconciler } = world();
    store.put("sb", record("Ready"));
    backend.seen.set("sb", { ...ready, deleting: false });
    const outcome = await reconciler.operate("sb", "delete", {
      call: async () => {
        expect((await reconciler.reconcile("sb")).outcome).toBe("written");
        throw new Error("the driver refuses");
      },
    });
    expect(outcome).toMatchObject({ outcome: "failed", record: { phase: "Ready", desired: "running" } });
    expect(store.peek("sb")).toMatchObject({ phase: "Ready", desired: "running" });
  });

  it("restore nothing over a delete that was asked for while a stop failed", async () => {
    const { backend, store, reconciler } = world();
    store.put("sb", record("Ready"));
    backend.seen.set("sb", { ...ready, deleting: false, terminating: false });
    const later: Promise<unknown>[] = [];
    const first = await reconciler.operate("sb", "stop", {
      call: async () => {
        later.push(reconciler.operate("sb", "delete", { call: () => Promise.resolve() }));
        await soon();
        throw new Error("the driver refuses");
      },
    });
    expect(first.outcome).toBe("overtaken");
    expect(await Promise.all(later)).toMatchObject([{ outcome: "done" }]);
    expect(store.peek("sb")).toMatchObject({ phase: "Deleting", desired: "deleted" });
  });

  it("write the intent of a stop and of a delete over what somebody else had begun", async () => {
    const { backend, store, reconciler } = world();
    let calls = 0;
    const call = (): Promise<void> => {
      calls += 1;
      return Promise.resolve();
    };
    store.put("stopping", record("Stopping"));
    backend.seen.set("stopping", { ...ready, terminating: true });
    expect(await reconciler.operate("stopping", "stop", { call })).toMatchObject({ outcome: "done" });
    expect(store.peek("stopping")).toMatchObject({ phase: "Stopping", desired: "stopped", since: 0 });
    expect(calls).toBe(1);
    store.put("deleting", record("Deleting"));
    backend.seen.set("deleting", { ...ready, deleting: true });
    expect(await reconciler.operate("deleting", "delete", { call })).toMatchObject({ outcome: "noop" });
    expect(store.peek("deleting")).toMatchObject({ phase: "Deleting", desired: "deleted", since: 0 });
    expect(calls).toBe(1);
  });

  it("abort a start that is under way when a delete has nothing to call", async () => {
    const { backend, store, reconciler } = world();
    store.put("sb", { phase: "Stopped", desired: "stopped", since: 0 });
    backend.seen.set("sb", { ...present(null), running: false, suspended: true });
    let aborted = false;
    await reconciler.operate("sb", "start", {
      call: async ({ signal }) => {
        backend.seen.set("sb", { ...ready, deleting: true });
        await reconciler.reconcile("sb");
        expect(store.peek("sb")?.phase).toBe("Deleting");
        const outcome = await reconciler.operate("sb", "delete", { call: () => Promise.resolve() });
        expect(outcome.outcome).toBe("noop");
        aborted = signal.aborted;
      },
    });
    expect(aborted).toBe(true);
    expect(store.peek("sb")?.desired).toBe("deleted");
  });
});

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let settle = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle() };
}
