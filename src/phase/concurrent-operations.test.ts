import { describe, expect, it } from "vitest";
import { none, nothing, rest, stopped, world } from "../../test/phase/operations.js";
import type { ObservationSource } from "./ports.js";
import type { SandboxRecord } from "./record.js";

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
