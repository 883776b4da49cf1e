import { describe, expect, it } from "vitest";
import type { Shared } from "../../test/phase/operations.js";
import { none, ready, rest, running, stopped, touch, world } from "../../test/phase/operations.js";
import { MemoryRecordStore } from "../testing/index.js";
import { absent } from "./observation.js";
import type { OperationCall } from "./operate.js";
import type { SandboxRecord } from "./record.js";

describe("an operation", () => {
  it("writes its intent, calls the driver with it, and ends with the gate and the record", async () => {
    const { store, clock, reconciler } = world(stopped, rest);
    const calls: OperationCall[] = [];
    const outcome = await reconciler.operate("sb", "start", {
      instanceId: "i-2",
      call: (call) => {
        calls.push(call);
        expect(store.peek("sb")).toBe(call.record);
        return none();
      },
    });
    const record = {
      phase: "Starting",
      desired: "running",
      expectedInstanceId: "i-2",
      startRequestedAt: clock.now(),
    };
    expect(calls).toMatchObject([{ id: "sb", route: "resume", record }]);
    expect(calls[0]?.signal.aborted).toBe(false);
    const gate = { allowed: true, route: "resume", rule: "start-stopped" };
    expect(outcome).toEqual({ outcome: "done", gate, record: store.peek("sb"), error: null });
    expect(outcome.record).toMatchObject(record);
  });

  it("that leaves nothing to do writes at most that it was asked for", async () => {
    const { store, reconciler } = world(ready, running);
    const call = (): never => expect.unreachable();
    const gate = { allowed: true, route: "noop", rule: "start-ready" };
    expect(await reconciler.operate("sb", "start", { call })).toEqual({
      outcome: "noop",
      gate,
      record: ready,
      error: null,
    });
    expect(store.writes).toBe(0);
  });

  it("of nothing, and one that is refused, tell so and write nothing", async () => {
    const call = (): never => expect.unreachable();
    const gone = world(null, absent(null));
    expect(await gone.reconciler.operate("sb", "stop", { call })).toEqual({
      outcome: "no-record",
      gate: null,
      record: null,
      error: null,
    });
    const stopping: SandboxRecord = { phase: "Stopping", desired: "stopped", since: 0 };
    const { store, reconciler } = world(stopping, running);
    expect(await reconciler.operate("sb", "start", { call })).toMatchObject({
      outcome: "refused",
      gate: { allowed: false, rule: "start-while-stopping" },
      record: stopping,
      error: null,
    });
    expect(store.writes).toBe(0);
  });

  it("is asked for by a user, unless it says that it is automatic", async () => {
    const { reconciler } = world(stopped, rest);
    const refused = await reconciler.operate("sb", "start", { by: "automatic", call: none });
    expect(refused).toMatchObject({ outcome: "refused", gate: { reason: "AutomaticStartRefused" } });
    expect((await reconciler.operate("sb", "start", { call: none })).outcome).toBe("done");
  });

  it("is judged by what its gateway knows: its backend, its policy and a look that a stop needs not", async () => {
    const asked: string[] = [];
    const backendMatches = (id: string): boolean => {
      asked.push(id);
      return false;
    };
    const mismatched = world(stopped, rest, { backendMatches });
    const start = await mismatched.reconciler.operate("sb", "start", { call: none });
    expect(start).toMatchObject({ outcome: "refused", gate: { reason: "IsolationBackendMismatch" } });
    expect(asked).toEqual(["sb"]);
    expect(mismatched.looks).toEqual(["sb"]);
    const evicted: SandboxRecord = { phase: "Error", desired: "running", since: 0, reason: "Evicted" };
    const lenient = world(evicted, rest, { policy: { recoverable: ["Evicted"] } });
    const again = await lenient.reconciler.operate("sb", "start", { by: "automatic", call: none });
    expect(again).toMatchObject({ outcome: "done", gate: { rule: "start-recoverable" } });
    const { looks, reconciler } = world(ready, running);
    await reconciler.operate("sb", "stop", { call: none });
    expect(looks).toEqual([]);
  });

  it("is decided again when somebody else wrote, by what that left", async () => {
    const { store, reconciler } = world(ready, running);
    let writes = 0;
    store.beforeWrite = () => {
      writes += 1;
      if (writes < 3) touch(store);
    };
    expect((await reconciler.operate("sb", "stop", { call: none })).outcome).toBe("done");
    const other = world(ready, running);
    other.store.beforeWrite = () => {
      other.store.beforeWrite = () => undefined;
      other.store.put("sb", { phase: "Deleting", desired: "deleted", since: 0 });
    };
    expect(await other.reconciler.operate("sb", "stop", { call: none })).toMatchObject({
      outcome: "refused",
      gate: { reason: "Deleting" },
    });
  });

  it("gives up after three conflicts without a driver call", async () => {
    const { store, reconciler } = world(ready, running);
    let writes = 0;
    store.beforeWrite = () => {
      writes += 1;
      touch(store);
    };
    const call = (): never => expect.unreachable();
    expect(await reconciler.operate("sb", "stop", { call })).toEqual({
      outcome: "conflict",
      gate: null,
      record: null,
      error: null,
    });
    expect(writes).toBe(3);
    expect(store.peek("sb")).toEqual(ready);
  });
});

describe("between the intent and the driver call", () => {
  /** What `change` writes there, and how the operation ends. */
  async function after(
    operation: "start" | "stop",
    change: (record: SandboxRecord) => SandboxRecord | null,
  ): Promise<{ readonly outcome: unknown; readonly called: boolean; readonly store: Shared }> {
    const { store, reconciler } = world(operation === "start" ? stopped : ready, rest);
    let reads = 0;
    store.beforeRead = () => {
      reads += 1;
      const record = store.peek("sb");
      if (reads !== 2 || record === null) return;
      const next = change(record);
      if (next !== null) store.put("sb", next);
    };
    let called = false;
    const outcome = await reconciler.operate("sb", operation, {
      call: () => {
        called = true;
        return none();
      },
    });
    return { outcome, called, store };
  }

  it.each<[string, "start" | "stop", Partial<SandboxRecord>]>([
    ["readiness", "start", { phase: "Ready" }],
    ["an end of the run", "stop", { phase: "Stopped" }],
    ["diagnostics", "stop", { message: "still here" }],
  ])("%s may be written: the call is made with it", async (_what, operation, change) => {
    const { outcome, called } = await after(operation, (record) => ({ ...record, ...change }));
    expect(called).toBe(true);
    expect(outcome).toMatchObject({ outcome: "done", record: change, error: null });
  });

  it.each<[string, "start" | "stop", Partial<SandboxRecord>]>([
    ["another intent", "start", { desired: "stopped" }],
    ["another start", "start", { startRequestedAt: 5 }],
    ["a failure", "stop", { phase: "Error" }],
    ["a delete", "stop", { phase: "Deleting", desired: "deleted" }],
  ])("%s overtakes it: no call is made", async (_what, operation, change) => {
    const { outcome, called, store } = await after(operation, (record) => ({ ...record, ...change }));
    expect(called).toBe(false);
    expect(outcome).toMatchObject({
      outcome: "overtaken",
      gate: { allowed: true },
      record: change,
      error: null,
    });
    expect(store.peek("sb")).toMatchObject(change);
  });

  it("the record may go: no call is made", async () => {
    const { store, reconciler } = world(ready, running);
    let reads = 0;
    const { get } = MemoryRecordStore.prototype;
    store.get = (id) => {
      reads += 1;
      return reads === 2 ? Promise.resolve(null) : get.call(store, id);
    };
    const call = (): never => expect.unreachable();
    expect(await reconciler.operate("sb", "stop", { call })).toMatchObject({
      outcome: "overtaken",
      gate: { route: "stop" },
      record: null,
    });
  });
});
