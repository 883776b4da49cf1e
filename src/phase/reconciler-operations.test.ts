import { describe, expect, it } from "vitest";
import { ready, record, world } from "../../test/phase/reconciled-world.js";
import { present } from "./observation.js";

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
