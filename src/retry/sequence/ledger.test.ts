import fc from "fast-check";
import { beforeEach, describe, expect, it, vi, type Mock } from "vitest";
import { backoff, caught, refused } from "../../../test/retry/failures.js";
import { entry } from "../../../test/retry/activation-entry.js";
import { InMemoryActivationLedger, VirtualClock } from "../../testing/index.js";
import {
  applyActivation,
  bootstrapSequence,
  BootstrapRetrier,
  completeActivation,
  stopActivation,
  type ActivationEntry,
  type ActivationLedger,
} from "../index.js";

let clock: VirtualClock;
let ledger: InMemoryActivationLedger;
let activate: Mock<() => unknown>;
beforeEach(() => {
  clock = new VirtualClock();
  ledger = new InMemoryActivationLedger();
  activate = vi.fn<() => unknown>();
});

describe("bootstrapSequence", () => {
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
