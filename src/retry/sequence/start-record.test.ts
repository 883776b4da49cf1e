import { beforeEach, describe, expect, it, vi } from "vitest";
import { InMemoryActivationLedger, VirtualClock } from "../../testing/index.js";
import {
  bootstrapSequence,
  completeActivation,
  exponentialBackoff,
  stopActivation,
  type ActivationEntry,
  type ActivationLedger,
  type BootstrapRetrierOptions,
  type BootstrapSequenceResult,
} from "../index.js";

const away = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

let clock: VirtualClock;
let ledger: InMemoryActivationLedger;
beforeEach(() => {
  clock = new VirtualClock();
  ledger = new InMemoryActivationLedger();
});

/** The ledger, with writes and reads that a test looks into, or answers itself. */
function through(ports: Partial<ActivationLedger>): ActivationLedger {
  return {
    read: (id) => ledger.read(id),
    compareAndSwap: (id, version, next) => ledger.compareAndSwap(id, version, next),
    ...ports,
  };
}

function start(
  activate: () => unknown,
  options: BootstrapRetrierOptions = {},
  on: ActivationLedger = ledger,
): Promise<BootstrapSequenceResult> {
  const retrier = { clock, backoff: exponentialBackoff({ jitter: "none" }), ...options };
  return bootstrapSequence({ instanceId: "i-1", ledger: on, steps: [], activate, retrier });
}

const other = (state: ActivationEntry["state"]): ActivationEntry => ({
  state,
  version: 9,
  claim: "another's",
  at: 0,
});

describe("a workload that was started", () => {
  it("is on record though the deadline passes, and the caller gives up, during its start", async () => {
    const controller = new AbortController();
    const end = clock.now() + 1000;
    const deadline = { signal: new AbortController().signal, remainingMs: () => end - clock.now() };
    const run = start(
      () => {
        clock.advance(2000);
        controller.abort("enough");
      },
      { signal: controller.signal, deadline },
    );
    expect(await run).toMatchObject({ outcome: "activated", started: true, entry: { state: "active" } });
    expect(ledger.entries.get("i-1")).toMatchObject({ state: "active", at: clock.now() });
  });

  it("counts as activated though that cannot be written, after five tries", async () => {
    let reads = 0;
    let isStarted = false;
    const failing = through({
      read: (id) => {
        if (!isStarted) return ledger.read(id);
        reads += 1;
        throw away();
      },
    });
    const run = start(() => void (isStarted = true), {}, failing);
    await clock.advanceAsync(300_000);
    const result = await run;
    expect(result).toMatchObject({ outcome: "activated", started: true, entry: { state: "activating" } });
    expect(result.error).toMatchObject({ code: "BOOTSTRAP_EXHAUSTED", maxAttempts: 5 });
    expect(reads).toBe(5);
  });

  it("counts as activated where its claim was lost meanwhile", async () => {
    const result = await start(async () => {
      const { version } = ledger.entries.get("i-1")!;
      await ledger.compareAndSwap("i-1", version, null);
    });
    expect(result).toMatchObject({ outcome: "activated", started: true, entry: null });
    expect(result).not.toHaveProperty("error");
  });

  it.each([
    ["stopped", stopActivation],
    ["completed", completeActivation],
  ] as const)("and that was %s meanwhile is told as that", async (outcome, end) => {
    const result = await start(() => end(ledger, "i-1", 5));
    expect(result).toMatchObject({ outcome, started: true, entry: { state: outcome, at: 5 } });
  });

  it("is active once, where the answer to its record was lost", async () => {
    let writes = 0;
    const losing = through({
      compareAndSwap: async (id, version, next) => {
        const swapped = await ledger.compareAndSwap(id, version, next);
        writes += 1;
        if (writes === 2) throw away();
        return swapped;
      },
    });
    const run = start(() => undefined, {}, losing);
    await clock.advanceAsync(10_000);
    expect(await run).toMatchObject({ outcome: "activated", started: true, entry: { state: "active" } });
  });
});

describe("a claim", () => {
  it.each([
    ["active", "already-active"],
    ["activating", "activation-uncertain"],
    ["stopped", "stopped"],
    ["completed", "completed"],
  ] as const)("that comes after another's, which is %s by then, starts nothing", async (state, outcome) => {
    const activate = vi.fn();
    const slower = through({
      compareAndSwap: async (id, version, next) => {
        await ledger.compareAndSwap(id, null, other(state));
        return ledger.compareAndSwap(id, version, next);
      },
    });
    expect(await start(activate, {}, slower)).toEqual({
      outcome,
      started: false,
      entry: other(state),
      results: {},
    });
    expect(activate).not.toHaveBeenCalled();
    expect(ledger.entries.get("i-1")).toEqual(other(state));
  });

  it("is one's own though its answer was lost, and starts the workload once", async () => {
    let writes = 0;
    const activate = vi.fn();
    const losing = through({
      compareAndSwap: async (id, version, next) => {
        const swapped = await ledger.compareAndSwap(id, version, next);
        writes += 1;
        if (writes === 1) throw away();
        return swapped;
      },
    });
    const run = start(activate, {}, losing);
    await clock.advanceAsync(10_000);
    expect(await run).toMatchObject({ outcome: "activated", started: true });
    expect(activate).toHaveBeenCalledTimes(1);
  });

  it("that cannot be written is taken back, and another's is left alone", async () => {
    for (const isAnother of [false, true]) {
      ledger = new InMemoryActivationLedger();
      const removals: unknown[] = [];
      const failing = through({
        compareAndSwap: async (id, version, next) => {
          if (next === null) removals.push(version);
          else if (isAnother) await ledger.compareAndSwap(id, null, other("activating"));
          const swapped = await ledger.compareAndSwap(id, version, next);
          if (next !== null) throw away();
          return swapped;
        },
      });
      const noTime = { signal: new AbortController().signal, remainingMs: () => 500 };
      await expect(start(vi.fn(), { deadline: noTime }, failing)).rejects.toMatchObject({
        code: "BOOTSTRAP_DEADLINE",
      });
      await clock.advanceAsync(10);
      expect(ledger.entries.get("i-1")?.claim).toBe(isAnother ? "another's" : undefined);
      expect(removals).toHaveLength(isAnother ? 0 : 1);
    }
  });

  it("is 128 bits of its own", async () => {
    const claims = new Set<string | null | undefined>();
    for (let index = 0; index < 50; index += 1) {
      ledger = new InMemoryActivationLedger();
      claims.add((await start(() => undefined)).entry?.claim);
    }
    expect(claims.size).toBe(50);
    for (const claim of claims) expect(claim).toMatch(/^[0-9a-f]{32}$/);
    // Every quarter is drawn by itself.
    for (const at of [0, 8, 16, 24])
      expect(new Set([...claims].map((claim) => claim?.slice(at, at + 8))).size).toBe(50);
  });
});
