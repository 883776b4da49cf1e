import { beforeEach, describe, expect, it, vi, type Mock } from "vitest";
import { backoff, caught, refused } from "../../../test/retry/failures.js";
import { entry } from "../../../test/retry/activation-entry.js";
import { InMemoryActivationLedger, VirtualClock } from "../../testing/index.js";
import {
  bootstrapSequence,
  BootstrapPermanentError,
  BootstrapRetrier,
  stopActivation,
  type ActivationLedger,
  type BootstrapRetrierOptions,
} from "../index.js";

let clock: VirtualClock;
let ledger: InMemoryActivationLedger;
let activate: Mock<() => unknown>;
beforeEach(() => {
  clock = new VirtualClock();
  ledger = new InMemoryActivationLedger();
  activate = vi.fn<() => unknown>();
});

const start = (
  steps: readonly { name: string; run: () => unknown }[] = [{ name: "policy", run: () => "policy" }],
  options: BootstrapRetrierOptions = {},
  over: { instanceId?: string; ledger?: ActivationLedger } = {},
): ReturnType<typeof bootstrapSequence> =>
  bootstrapSequence({
    instanceId: "i-1",
    ledger,
    ...over,
    steps,
    activate,
    retrier: { clock, backoff, ...options },
  });

describe("bootstrapSequence", () => {
  it("runs the steps in order, hands their values on, and activates once", async () => {
    const order: unknown[] = [];
    const result = await bootstrapSequence({
      instanceId: "i-1",
      ledger,
      steps: [
        { name: "policy", run: ({ attempt, step }) => (order.push([step, attempt]), { rules: 1 }) },
        {
          name: "enforcement",
          run: ({ results, signal, remainingMs }) =>
            order.push(results["policy"], signal.aborted, remainingMs),
        },
      ],
      activate: ({ instanceId, results }) => order.push([instanceId, results["policy"]]),
      retrier: { clock },
    });
    expect(order).toEqual([
      ["policy", 1],
      { rules: 1 },
      false,
      Number.POSITIVE_INFINITY,
      ["i-1", { rules: 1 }],
    ]);
    expect(result).toMatchObject({ outcome: "activated", started: true, entry: { state: "active" } });
  });

  it("retries a step without repeating those before it", async () => {
    const policy = vi.fn(() => "policy");
    let failures = 3;
    const run = start([
      { name: "policy", run: policy },
      {
        name: "sidecar",
        run: () => {
          if (failures-- > 0) throw refused();
        },
      },
    ]);
    await clock.advanceAsync(6999);
    expect(activate).not.toHaveBeenCalled();
    await clock.advanceAsync(1);
    expect((await run).outcome).toBe("activated");
    expect(policy).toHaveBeenCalledTimes(1);
    expect(activate).toHaveBeenCalledTimes(1);
  });

  it("does not activate when a step fails for good", async () => {
    const run = start([
      { name: "policy", run: () => Promise.reject(Object.assign(new Error("401"), { status: 401 })) },
    ]);
    expect(await caught(run)).toBeInstanceOf(BootstrapPermanentError);
    expect([activate.mock.calls.length, ledger.entries.size]).toEqual([0, 0]);
  });

  it.each([
    ["active", "already-active"],
    ["stopped", "stopped"],
    ["completed", "completed"],
    ["activating", "activation-uncertain"],
    ["a word of a newer version", "activation-uncertain"],
  ])("reports an instance that is %s without running a step", async (state, outcome) => {
    await ledger.compareAndSwap("i-1", null, entry(state as "active"));
    const policy = vi.fn();
    expect(await start([{ name: "policy", run: policy }])).toMatchObject({ outcome, started: false });
    expect([policy.mock.calls.length, activate.mock.calls.length]).toEqual([0, 0]);
  });

  it("reports a failed activation as uncertain, and so does every later call", async () => {
    activate.mockImplementation(() => Promise.reject(new Error("fork failed")));
    expect(await start()).toMatchObject({
      outcome: "activation-uncertain",
      started: true,
      error: { message: "fork failed" },
    });
    expect(await start()).toMatchObject({ outcome: "activation-uncertain", started: false });
    expect(activate).toHaveBeenCalledTimes(1);
  });

  it("starts nothing when a stop came during the steps, and says so when it came during the start", async () => {
    const stopping = { name: "policy", run: () => stopActivation(ledger, "i-1", clock.now()) };
    expect(await start([stopping])).toMatchObject({ outcome: "stopped", started: false });
    expect(activate).not.toHaveBeenCalled();
    activate.mockImplementation(async () => {
      expect(await stopActivation(ledger, "i-2", clock.now())).toMatchObject({ workloadMayRun: true });
    });
    expect(await start(undefined, {}, { instanceId: "i-2" })).toMatchObject({
      outcome: "stopped",
      started: true,
    });
  });

  it("does not activate for a caller that gave up, and releases a claim that arrives late", async () => {
    const controller = new AbortController();
    const slow: ActivationLedger = {
      read: (id) => ledger.read(id),
      compareAndSwap: (id, version, next) =>
        new Promise((resolve) =>
          clock.schedule(
            clock.now() + 1000,
            () => void ledger.compareAndSwap(id, version, next).then(resolve),
          ),
        ),
    };
    const run = caught(start(undefined, { signal: controller.signal }, { ledger: slow }));
    await clock.advanceAsync(500);
    controller.abort("stop");
    expect(await run).toBe("stop");
    await clock.advanceAsync(600);
    expect(ledger.entries.get("i-1")).toMatchObject({ state: "activating" });
    await clock.advanceAsync(5000);
    expect(ledger.entries.has("i-1")).toBe(false);
    expect(activate).not.toHaveBeenCalled();
    expect((await start()).outcome).toBe("activated");
  });

  it("takes its own claim back, and never that of the next one, however late", async () => {
    const controller = new AbortController();
    const held: (() => void)[] = [];
    const hold = (): Promise<void> => new Promise((resolve) => held.push(resolve));
    const removals: number[] = [];
    let isClaimed = false;
    const slow: ActivationLedger = {
      read: (id) => ledger.read(id),
      compareAndSwap: async (id, version, next) => {
        // A removal is under way for as long as the test likes; the answer to the claim comes late.
        if (next === null) {
          removals.push(version ?? 0);
          await hold();
          return ledger.compareAndSwap(id, version, next);
        }
        const swapped = await ledger.compareAndSwap(id, version, next);
        isClaimed = true;
        await hold();
        return swapped;
      },
    };
    const run = caught(start(undefined, { signal: controller.signal }, { ledger: slow }));
    await clock.advanceAsync(10);
    expect(isClaimed).toBe(true);
    controller.abort("stop");
    expect(await run).toBe("stop");
    await clock.advanceAsync(10);
    // The claim's answer arrives while the removal is on its way: that asks for a second one, which arrives last.
    held[0]?.();
    await clock.advanceAsync(10);
    held[1]?.();
    await clock.advanceAsync(10);
    const started = vi.fn<() => unknown>();
    const next = (): Promise<unknown> =>
      bootstrapSequence({ instanceId: "i-1", ledger, steps: [], activate: started, retrier: { clock } });
    expect(await next()).toMatchObject({ outcome: "activated" });
    for (const release of held.slice(2)) release();
    await clock.advanceAsync(10);
    expect(removals).toHaveLength(2);
    expect(await next()).toMatchObject({ outcome: "already-active" });
    expect(started).toHaveBeenCalledTimes(1);
    expect(activate).not.toHaveBeenCalled();
  });

  it("says again that a workload may run when a stop is repeated", async () => {
    expect(await start()).toMatchObject({ outcome: "activated" });
    for (const now of [1, 2])
      expect(await stopActivation(ledger, "i-1", now)).toMatchObject({
        entry: { state: "stopped" },
        workloadMayRun: true,
      });
    for (const now of [1, 2])
      expect(await stopActivation(ledger, "never", now)).toMatchObject({ workloadMayRun: false });
  });

  it("survives a ledger that is away for a while, or loses its answers", async () => {
    let calls = 0;
    const flaky: ActivationLedger = {
      read: (id) => (calls++ % 2 === 0 ? Promise.reject(refused()) : ledger.read(id)),
      compareAndSwap: async (id, version, next) => {
        await ledger.compareAndSwap(id, version, next);
        if (calls < 6) throw refused();
        return false;
      },
    };
    const run = start(undefined, {}, { ledger: flaky });
    await clock.advanceAsync(200_000);
    expect(await run).toMatchObject({ outcome: "activated", started: true });
    expect(activate).toHaveBeenCalledTimes(1);
    expect(ledger.entries.get("i-1")?.state).toBe("active");
  });

  it("checks the deadline before the claim", async () => {
    let end = clock.now() + 1000;
    const deadline = { signal: new AbortController().signal, remainingMs: () => end - clock.now() };
    const run = caught(start([{ name: "policy", run: () => (end = 0) }], { deadline }));
    expect(await run).toMatchObject({ code: "BOOTSTRAP_DEADLINE" });
    expect([activate.mock.calls.length, ledger.entries.size]).toEqual([0, 0]);
  });

  it("R-52 recovers with a new instance and a new deadline: same workspace, one workload", async () => {
    const workspace = { id: "ws-1", sentinel: "kept", runs: 0 };
    let up = false;
    const attempt = (instanceId: string, limitMs: number): Promise<unknown> => {
      const end = clock.now() + limitMs;
      const deadline = { signal: new AbortController().signal, remainingMs: () => end - clock.now() };
      return caught(
        bootstrapSequence({
          instanceId,
          ledger,
          steps: [{ name: "policy", run: () => (up ? "policy" : Promise.reject(refused())) }],
          activate: () => (workspace.runs += 1),
          retrier: new BootstrapRetrier({ clock, backoff, deadline }),
        }),
      );
    };
    const first = attempt("i-1", 300_000);
    await clock.advanceAsync(500_000);
    expect(await first).toMatchObject({ code: "BOOTSTRAP_DEADLINE" });
    up = true;
    expect(await attempt("i-2", 300_000)).toMatchObject({ value: { outcome: "activated" } });
    expect(workspace).toEqual({ id: "ws-1", sentinel: "kept", runs: 1 });
  });
});
