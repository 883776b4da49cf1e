import fc from "fast-check";
import { beforeEach, describe, expect, it, vi, type Mock } from "vitest";
import { InMemoryActivationLedger, VirtualClock } from "../../testing/index.js";
import {
  applyActivation,
  bootstrapSequence,
  BootstrapPermanentError,
  BootstrapRetrier,
  completeActivation,
  exponentialBackoff,
  stopActivation,
  type ActivationEntry,
  type ActivationLedger,
  type BootstrapRetrierOptions,
} from "../index.js";

const refused = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const backoff = exponentialBackoff({ jitter: "none" });
const caught = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );

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

const entry = (state: ActivationEntry["state"], claim: string | null = "other"): ActivationEntry => ({
  state,
  version: 1,
  claim,
  at: 0,
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

  it("makes nothing active but what is activating", () => {
    const event = { type: "started", claim: "a" } as const;
    expect(applyActivation(entry("activating", "a"), event, 1)).toMatchObject({ next: { state: "active" } });
    const newer = entry("draining" as ActivationEntry["state"], "a");
    expect(applyActivation(newer, event, 1)).toEqual({ applied: false, why: "uncertain" });
  });

  it("gives every claim a first version of its own, and room above it", () => {
    const versions = Array.from({ length: 20_000 }, (_, index) => {
      const step = applyActivation(null, { type: "claim", claim: `claim-${index}` }, 0);
      return step.applied ? step.next.version : 0;
    });
    expect(new Set(versions).size).toBe(versions.length);
    expect(versions.every((version) => version >= 1 && version <= 2 ** 52)).toBe(true);
    const low = versions.filter((version) => version < 2 ** 51).length;
    expect(Math.abs(low - versions.length / 2)).toBeLessThan(500);
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

  it("tells of a ledger that is away, and does not look idle meanwhile", async () => {
    let isAway = true;
    const away: ActivationLedger = {
      read: (id) => (isAway ? Promise.reject(refused()) : ledger.read(id)),
      compareAndSwap: (id, version, next) => ledger.compareAndSwap(id, version, next),
    };
    const retrier = new BootstrapRetrier({ clock, backoff });
    const sentences: string[] = [];
    retrier.on("waiting", () => sentences.push(retrier.status().sentence));
    const run = bootstrapSequence({ instanceId: "i-1", ledger: away, steps: [], activate, retrier });
    await clock.advanceAsync(20_000);
    expect(retrier.status()).toMatchObject({ state: "waiting", lastError: { code: "ECONNREFUSED" } });
    expect(retrier.toCondition()).toMatchObject({ reason: "BootstrapInProgress" });
    expect(sentences[0]).toMatch(/^Bootstrap waits .* for attempt 2 .*ECONNREFUSED \(transient\)/);
    isAway = false;
    await clock.advanceAsync(200_000);
    expect(await run).toMatchObject({ outcome: "activated" });
  });

  it("shows why a ledger that stays away ended it", async () => {
    const end = clock.now() + 30_000;
    const deadline = { signal: new AbortController().signal, remainingMs: () => end - clock.now() };
    const retrier = new BootstrapRetrier({ clock, backoff, deadline });
    const away: ActivationLedger = {
      read: () => Promise.reject(refused()),
      compareAndSwap: () => Promise.reject(refused()),
    };
    const run = caught(bootstrapSequence({ instanceId: "i-1", ledger: away, steps: [], activate, retrier }));
    await clock.advanceAsync(60_000);
    expect(await run).toMatchObject({ code: "BOOTSTRAP_DEADLINE" });
    expect(retrier.status()).toMatchObject({ state: "failed", outcome: "deadline" });
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

  it.each([
    ["instanceId", { instanceId: "" }],
    [
      "steps[1].name",
      {
        steps: [
          { name: "a", run: () => 1 },
          { name: "a", run: () => 1 },
        ],
      },
    ],
  ])("refuses a wrong %s", async (field, wrong) => {
    const options = { instanceId: "i", steps: [], activate, ledger, ...wrong };
    expect(await caught(bootstrapSequence(options))).toMatchObject({ code: "INVALID_OPTION", field });
  });
});

describe("the ledger", () => {
  it("lets exactly one of any starts and stops win, in every interleaving", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom("start", "stop", "complete"), { minLength: 2, maxLength: 7 }),
        async (s, actors) => {
          const store = new InMemoryActivationLedger();
          const read = s.scheduleFunction((id: string) => store.read(id));
          const swap = s.scheduleFunction(
            (id: string, version: number | null, next: ActivationEntry | null) =>
              store.compareAndSwap(id, version, next),
          );
          const scheduled: ActivationLedger = { read, compareAndSwap: swap };
          let started = 0;
          let stoppedFirst = false;
          const runs = actors.map(async (actor) => {
            if (actor === "start") {
              await bootstrapSequence({
                instanceId: "i",
                ledger: scheduled,
                steps: [],
                activate: () => {
                  started += 1;
                  expect(stoppedFirst).toBe(false);
                },
                retrier: { clock: new VirtualClock() },
              });
            } else if (actor === "stop") {
              const { entry: left, workloadMayRun } = await stopActivation(scheduled, "i", 1);
              if (left.state === "stopped" && left.claim === null) stoppedFirst = true;
              if (!workloadMayRun && left.state === "stopped" && left.claim === null) expect(started).toBe(0);
            } else {
              await completeActivation(scheduled, "i", 1);
            }
          });
          await s.waitFor(Promise.all(runs));
          expect(started).toBeLessThanOrEqual(1);
          const end = store.entries.get("i");
          if (actors.includes("start")) expect(end).toBeDefined();
          if (actors.includes("stop")) expect(["stopped", "completed"]).toContain(end?.state);
          else if (actors.includes("start")) expect(started).toBe(1);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("never leaves stopped or completed, and never activates a claim of somebody else", () => {
    const event = fc.oneof(
      fc.constantFrom({ type: "stop" } as const, { type: "complete" } as const),
      fc.record({
        type: fc.constantFrom("claim" as const, "started" as const),
        claim: fc.constantFrom("a", "b"),
      }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        let held: ActivationEntry | null = null;
        for (const [index, each] of events.entries()) {
          const before: ActivationEntry | null = held;
          const step = applyActivation(before, each, index);
          if (!step.applied) continue;
          held = step.next;
          expect(["stopped", "completed"]).not.toContain(before?.state);
          if (before === null) expect(held.version).toBeGreaterThan(0);
          else expect(held.version).toBe(before.version + 1);
          if (held.state === "activating") expect(before).toBeNull();
          if (held.state === "active")
            expect([before?.state, before?.claim]).toEqual(["activating", held.claim]);
        }
      }),
    );
  });
});
