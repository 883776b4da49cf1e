import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Activations } from "../src/gateway/activations.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { Sessions } from "../src/gateway/sessions.js";
import { GatewayMetrics } from "../src/metrics/gateway-metrics.js";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { VirtualClock } from "slipway/testing";
import { Bench } from "./bench.js";
import { claimOf } from "./claims.js";
import { tempDir } from "./temp-dir.js";
import { join } from "node:path";

let bench: Bench;

beforeEach(async () => {
  bench = await Bench.open();
});

afterEach(() => bench.close());

/** A gateway that comes up when a sandbox has been there for long, and hears of no write of others. */
async function late(metrics: GatewayMetrics): Promise<{ first: Gateway; second: Gateway; id: string }> {
  const first = await bench.gateway("one");
  const id = await bench.create(first);
  await bench.becomeReady(first, id);
  const second = await bench.gateway("two", { observer: metrics });
  return { first, second, id };
}

async function remove(gateway: Gateway, id: string): Promise<void> {
  await gateway.deleteSandbox(id);
  await bench.settle();
  for (let looks = 0; looks < 20 && (await gateway.records.read(id)) !== null; looks += 1)
    await bench.settle();
  expect(await gateway.records.read(id)).toBeNull();
}

describe("a sandbox that another gateway removed", () => {
  it("is told of by the news of its removal, though it was never told of before", async () => {
    const { first, second, id } = await late(new GatewayMetrics());
    const told: [string, boolean][] = [];
    second.hub.subscribe((event) => void told.push([event.id, event.record === null]));
    await remove(first, id);
    await second.noticeChange({ id, version: 99 });
    expect(told).toEqual([[id, true]]);
  });

  it("is missed by the next sweep where that news was lost, and nothing of it is kept or counted", async () => {
    const metrics = new GatewayMetrics();
    const { first, second, id } = await late(metrics);
    expect(await metrics.render()).toMatch(/^slipway_sandboxes\{phase="Ready"\} 1$/m);
    const told: [string, boolean][] = [];
    await remove(first, id);
    second.hub.subscribe((event) => void told.push([event.id, event.record === null]));
    await second.reconcile();
    await bench.settle();
    expect(told).toEqual([[id, true]]);
    expect(await metrics.render()).not.toMatch(/^slipway_sandboxes\{[^}]*\} [1-9]/m);
    expect([...second.hub.known()]).toEqual([]);
    await second.reconcile();
    expect(told).toHaveLength(1);
  });

  it("is not missed while it is there", async () => {
    const { first, second, id } = await late(new GatewayMetrics());
    const told: string[] = [];
    second.hub.subscribe((event) => void told.push(event.id));
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await second.reconcile();
    await first.reconcile();
    await bench.settle();
    expect(told).toEqual([]);
    expect([...second.hub.known()]).toEqual([id]);
  });

  it.each(["swap", "stop", "complete"] as const)(
    "leaves no entry of a %s that came after it",
    async (write) => {
      const path = join(await tempDir(), "ledger.db");
      const ledger = new SqliteActivationLedger(path);
      const gateway = await bench.gateway("one", { ledger });
      const id = await bench.create(gateway);
      const record = await bench.becomeReady(gateway, id);
      const next = claimOf("a", 1);
      await remove(gateway, id);
      await bench.settle();
      if (write === "swap") await gateway.activations.swap(record, { expectedVersion: null, next });
      else await gateway.activations[write](record);
      expect(await ledger.read(record.instance?.id ?? "")).toBeNull();
      expect(await ledger.read(`${id}/${record.instance?.id}`)).toBeNull();
      await bench.close();
      await ledger.close();
    },
  );
});

describe("the look whether a record is still there", () => {
  it.each(["swap", "stop", "complete"] as const)(
    "that fails does not undo a %s that was written",
    async (write) => {
      const failed: [string, unknown][] = [];
      const path = join(await tempDir(), "ledger.db");
      const ledger = new SqliteActivationLedger(path);
      const gateway = await bench.gateway("one", { ledger });
      const record = await bench.becomeReady(gateway, await bench.create(gateway));
      const away = new Error("the database is away");
      const activations = new Activations(ledger, bench.clock, {
        isThere: () => Promise.reject(away),
        onUnsure: (id, error) => failed.push([id, error]),
      });
      if (write === "swap")
        expect(await activations.swap(record, { expectedVersion: null, next: claimOf("a", 1) })).toBe(true);
      else await activations[write](record);
      // Nobody had claimed it: there is nothing to complete.
      const state = { swap: "activating", stop: "stopped", complete: undefined }[write];
      expect((await activations.read(record))?.state).toBe(state);
      expect(failed).toEqual([[record.id, away]]);
      await bench.close();
      await ledger.close();
    },
  );
});

describe("contacts of sandboxes whose removal nobody told of", () => {
  it("are forgotten an hour after their end, and not while somebody may wait", async () => {
    const clock = new VirtualClock();
    const store = {
      keepSessions: () => Promise.resolve(),
      liveSessions: () => Promise.resolve([]),
      sweepSessions: () => Promise.resolve(),
      endSessions: () => Promise.resolve(),
    };
    const sessions = new Sessions({ clock, owner: "one", log: () => undefined, store });
    for (let at = 0; at < 100; at += 1) sessions.note(`sb-${at}`, `r${at}`, clock.now());
    clock.advance(3_000_000);
    await sessions.refresh();
    expect(sessions.size).toBe(100);
    sessions.prolong("sb-7", "r7", clock.now());
    expect(sessions.of("sb-7", clock.now())?.instanceId).toBe("r7");
    clock.advance(1_000_000);
    await sessions.refresh();
    expect(sessions.size).toBe(1);
  });
});
