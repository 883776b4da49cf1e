import { describe, expect, it } from "vitest";
import { ready, record, world } from "../../test/phase/reconciled-world.js";
import { MemoryRecordStore } from "../testing/index.js";
import type { SandboxRecord } from "./record.js";

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
