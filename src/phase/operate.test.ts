import { describe, expect, it } from "vitest";
import { MemoryRecordStore, VirtualClock } from "../testing/index.js";
import { absent, present, type Observation } from "./observation.js";
import type { OperationCall } from "./operate.js";
import type { ObservationSource, StoredRecord, WatchEvent } from "./ports.js";
import type { ReconcilerOptions } from "./reconciler-options.js";
import { Reconciler } from "./reconciler.js";
import type { SandboxRecord } from "./record.js";

const running: Observation = {
  ...present(null),
  running: true,
  ready: true,
  readiness: "signal",
  terminating: false,
};
const rest: Observation = { ...present(null), running: false, ready: false, suspended: true };
const none = (): Promise<void> => Promise.resolve();

// eslint-disable-next-line @typescript-eslint/require-await
async function* nothing(): AsyncIterable<WatchEvent> {
  yield* [];
}

/** A store in which somebody else may write just before a write or a read of ours. */
class Shared extends MemoryRecordStore {
  beforeWrite: () => void = () => undefined;
  beforeRead: () => void = () => undefined;

  override get(id: string): Promise<StoredRecord | null> {
    this.beforeRead();
    return super.get(id);
  }

  override compareAndSwap(
    id: string,
    version: string | number,
    next: SandboxRecord,
  ): Promise<StoredRecord | null> {
    this.beforeWrite();
    return super.compareAndSwap(id, version, next);
  }
}

function world(record: SandboxRecord | null, seen: Observation, more: Partial<ReconcilerOptions> = {}) {
  const store = new Shared();
  const clock = new VirtualClock();
  const looks: string[] = [];
  const source: ObservationSource = {
    list: () => Promise.resolve({ items: [], cursor: null }),
    get: (id) => {
      looks.push(id);
      return Promise.resolve({ id, observation: seen });
    },
    watch: nothing,
  };
  if (record !== null) store.put("sb", record);
  return { store, clock, looks, reconciler: new Reconciler({ store, source, clock, ...more }) };
}

const ready: SandboxRecord = { phase: "Ready", desired: "running", since: 0 };
const stopped: SandboxRecord = { phase: "Stopped", desired: "stopped", since: 0 };

/** Another writer that touches the record without a change of anybody's intent. */
const touch = (store: Shared): void => {
  const record = store.peek("sb");
  if (record !== null) store.put("sb", { ...record });
};

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

describe("a driver call that failed", () => {
  const refused = new Error("the driver refuses");
  const fails = (): Promise<never> => Promise.reject(refused);

  it("is looked into: what it left is written, and its error is given by identity", async () => {
    const { store, looks, clock, reconciler } = world(ready, running);
    const outcome = await reconciler.operate("sb", "stop", { call: fails });
    expect(outcome).toMatchObject({
      outcome: "failed",
      gate: { route: "stop" },
      record: { phase: "Ready", since: clock.now() },
    });
    expect(outcome.error).toBe(refused);
    expect(outcome.record).toBe(store.peek("sb"));
    expect(looks).toEqual(["sb"]);
  });

  it("may also throw before it gives a promise", async () => {
    const { reconciler } = world(ready, running);
    const call = (): never => {
      throw refused;
    };
    expect(await reconciler.operate("sb", "stop", { call })).toMatchObject({
      outcome: "failed",
      error: refused,
    });
  });

  it("that cannot be looked into leaves what was written", async () => {
    const source: ObservationSource = {
      list: () => Promise.reject(new Error("no answer")),
      get: () => Promise.reject(new Error("no answer")),
      watch: nothing,
    };
    const { store, reconciler } = world(ready, running, { source });
    const { writes } = store;
    const outcome = await reconciler.operate("sb", "stop", { call: fails });
    expect(outcome).toMatchObject({ outcome: "failed", record: { phase: "Stopping" }, error: refused });
    expect(store.writes - writes).toBe(1);
  });

  it("is resolved by the gateway's policy", async () => {
    const policy = { removesComputeOnStop: true };
    const { reconciler } = world(ready, absent(null), { policy });
    const outcome = await reconciler.operate("sb", "stop", { call: fails });
    expect(outcome).toMatchObject({ outcome: "failed", record: { phase: "Stopped" } });
  });

  it("is resolved over what others write meanwhile, as long as nobody decides otherwise", async () => {
    for (const conflicts of [2, 3]) {
      const { store, reconciler } = world(ready, running);
      let left = 0;
      store.beforeWrite = () => {
        if (left > 0) touch(store);
        left -= 1;
      };
      const outcome = await reconciler.operate("sb", "stop", {
        call: () => {
          left = conflicts;
          return fails();
        },
      });
      const record = conflicts === 2 ? { phase: "Ready" } : null;
      expect(outcome).toMatchObject({
        outcome: record === null ? "overtaken" : "failed",
        gate: { route: "stop" },
        record,
        error: refused,
      });
      if (record === null) expect(store.peek("sb")?.phase).toBe("Stopping");
    }
  });

  it("resolves nothing over a later intent, or over a record that is gone", async () => {
    const deleting: SandboxRecord = { phase: "Deleting", desired: "deleted", since: 0 };
    for (const later of [deleting, null]) {
      const { store, reconciler } = world(ready, running);
      const outcome = await reconciler.operate("sb", "stop", {
        call: async () => {
          if (later !== null) store.put("sb", later);
          else {
            const stored = await store.get("sb");
            await store.delete("sb", stored?.version ?? 0);
          }
          throw refused;
        },
      });
      expect(outcome).toMatchObject({ outcome: "overtaken", record: null, error: refused });
      expect(store.peek("sb")).toBe(later);
    }
  });
});

describe("operations of one sandbox", () => {
  const soon = async (): Promise<void> => {
    for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
  };

  /** A start whose driver call hangs until it is let go; its signal. */
  async function starting() {
    const it = world(stopped, rest);
    let release = (): void => undefined;
    const signals: AbortSignal[] = [];
    const start = it.reconciler.operate("sb", "start", {
      call: ({ signal }) => {
        signals.push(signal);
        return new Promise<void>((resolve) => (release = resolve));
      },
    });
    await soon();
    expect(signals).toHaveLength(1);
    return { ...it, start, release: () => release(), signal: signals[0] as AbortSignal };
  }

  it("that are repeated join the one that runs, and are a call of their own after it", async () => {
    const { reconciler, start, release, signal } = await starting();
    let calls = 0;
    const call = (): Promise<void> => {
      calls += 1;
      return none();
    };
    const joined = reconciler.operate("sb", "start", { call });
    await soon();
    release();
    expect(await joined).toEqual(await start);
    expect([calls, signal.aborted]).toEqual([0, false]);
    expect(await reconciler.operate("sb", "start", { call })).toMatchObject({
      outcome: "done",
      gate: { route: "retry" },
    });
    expect(calls).toBe(1);
  });

  it("take the driver from another one, which is told to give up", async () => {
    const { store, reconciler, start, release, signal } = await starting();
    const order: string[] = [];
    const stop = reconciler.operate("sb", "stop", {
      call: ({ signal: own }) => {
        order.push(`stop, ${signal.aborted}, ${own.aborted}`);
        return none();
      },
    });
    await soon();
    expect([signal.aborted, order]).toEqual([true, []]);
    release();
    expect(await start).toMatchObject({ outcome: "done" });
    expect(await stop).toMatchObject({ outcome: "done" });
    expect(order).toEqual(["stop, true, false"]);
    expect(store.peek("sb")).toMatchObject({ phase: "Stopping", desired: "stopped" });
  });

  it("of the same kind that are carried out otherwise take over as well", async () => {
    const { store, reconciler, start, release, signal } = await starting();
    store.put("sb", stopped);
    let calls = 0;
    const again = reconciler.operate("sb", "start", {
      call: () => {
        calls += 1;
        return none();
      },
    });
    await soon();
    expect([signal.aborted, calls]).toEqual([true, 0]);
    release();
    await start;
    expect(await again).toMatchObject({ outcome: "done", gate: { route: "resume" } });
    expect(calls).toBe(1);
  });

  it("that were taken over leave the later one for others to join", async () => {
    const { reconciler, start, release } = await starting();
    let calls = 0;
    let end = (): void => undefined;
    const call = (): Promise<void> => {
      calls += 1;
      return new Promise<void>((resolve) => (end = resolve));
    };
    const stop = reconciler.operate("sb", "stop", { call });
    await soon();
    release();
    await start;
    await soon();
    const joined = reconciler.operate("sb", "stop", { call });
    await soon();
    end();
    expect(await joined).toEqual(await stop);
    expect(calls).toBe(1);
  });

  it("are asked for by nobody once it closes: a look that is cut short leaves no intent behind", async () => {
    const source: ObservationSource = {
      list: () => Promise.resolve({ items: [], cursor: null }),
      get: (_id, _run, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("closed")), { once: true });
        }),
      watch: nothing,
    };
    const { store, reconciler } = world(stopped, rest, { source });
    const start = reconciler.operate("sb", "start", { call: () => expect.unreachable() });
    await soon();
    await reconciler.close();
    expect(await start).toEqual({ outcome: "overtaken", gate: null, record: stopped, error: null });
    expect(store.writes).toBe(0);
  });

  it("that are noops leave one of the same kind alone, and abort another where they wrote an intent", async () => {
    const same = await starting();
    const record = same.store.peek("sb") as SandboxRecord;
    same.store.put("sb", { ...record, phase: "Ready" });
    expect((await same.reconciler.operate("sb", "start", { call: none })).outcome).toBe("noop");
    expect(same.signal.aborted).toBe(false);
    same.store.put("sb", { ...record, phase: "Ready", desired: "stopped" });
    expect((await same.reconciler.operate("sb", "start", { call: none })).outcome).toBe("noop");
    expect(same.store.peek("sb")?.desired).toBe("running");
    expect(same.signal.aborted).toBe(false);
    // A stop that is so already, and was asked for already, changes nothing for whoever runs.
    same.store.put("sb", { ...record, phase: "Stopped", desired: "stopped" });
    expect((await same.reconciler.operate("sb", "stop", { call: none })).outcome).toBe("noop");
    expect(same.signal.aborted).toBe(false);
    same.store.put("sb", { ...record, phase: "Stopped", desired: "running" });
    expect((await same.reconciler.operate("sb", "stop", { call: none })).outcome).toBe("noop");
    expect(same.signal.aborted).toBe(true);
    same.release();
    await same.start;
  });
});
