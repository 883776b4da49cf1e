import { describe, expect, it } from "vitest";
import { ready, record, world } from "../../test/phase/reconciled-world.js";
import { isSlipwayError } from "../errors.js";
import { KeyedLock, Limiter } from "./keyed-lock.js";
import { present } from "./observation.js";
import { Reconciler } from "./reconciler.js";

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

  it.each(["store", "source", "clock", "session", "backendMatches", "onOutcome", "onError"] as const)(
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

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let settle = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle() };
}
