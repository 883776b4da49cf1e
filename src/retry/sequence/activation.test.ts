import { describe, expect, it } from "vitest";
import { InMemoryActivationLedger } from "../../testing/index.js";
import {
  applyActivation,
  completeActivation,
  stopActivation,
  type ActivationEntry,
  type ActivationEvent,
  type ActivationLedger,
} from "../index.js";

const entry = (state: string, claim: string | null = "a"): ActivationEntry => ({
  state: state as ActivationEntry["state"],
  version: 7,
  claim,
  at: 1,
});

const claim = { type: "claim", claim: "b" } as const;
const started = { type: "started", claim: "a" } as const;
const startedByOther = { type: "started", claim: "b" } as const;
const stop = { type: "stop" } as const;
const complete = { type: "complete" } as const;

describe("what may happen to an activation", () => {
  const taken: readonly [from: ActivationEntry, event: ActivationEvent, to: string][] = [
    [entry("activating"), started, "active"],
    [entry("activating"), stop, "stopped"],
    [entry("activating"), complete, "completed"],
    [entry("active"), stop, "stopped"],
    [entry("active"), complete, "completed"],
    [entry("a newer word"), stop, "stopped"],
    [entry("a newer word"), complete, "completed"],
  ];
  it.each(taken.map(([from, event, to]) => ({ from, event, to })))(
    "$from.state and $event.type: $to, under the claim that it had",
    ({ from, event, to }) => {
      expect(applyActivation(from, event, 9)).toEqual({
        applied: true,
        next: { state: to, version: 8, claim: "a", at: 9 },
      });
    },
  );

  it("nothing yet and a claim: it is being activated, under that claim", () => {
    const step = applyActivation(null, claim, 9);
    expect(step).toMatchObject({ applied: true, next: { state: "activating", claim: "b", at: 9 } });
  });

  it("nothing yet and a stop: it is stopped, under nobody's claim", () => {
    expect(applyActivation(null, stop, 9)).toEqual({
      applied: true,
      next: { state: "stopped", version: 1, claim: null, at: 9 },
    });
  });

  const refusals: readonly [from: ActivationEntry | null, event: ActivationEvent, why: string][] = [
    [null, started, "not-started"],
    [null, complete, "not-started"],
    [entry("activating"), claim, "uncertain"],
    [entry("activating"), startedByOther, "uncertain"],
    [entry("active"), claim, "active"],
    [entry("active"), started, "active"],
    [entry("a newer word"), claim, "uncertain"],
    [entry("a newer word"), started, "uncertain"],
    ...[claim, started, stop, complete].flatMap((event): typeof refusals => [
      [entry("stopped"), event, "stopped"],
      [entry("completed"), event, "completed"],
    ]),
  ];
  it.each(refusals.map(([from, event, why]) => ({ state: from?.state ?? "nothing yet", from, event, why })))(
    "$state and $event.type: refused, $why",
    ({ from, event, why }) => {
      expect(applyActivation(from, event, 9)).toEqual({ applied: false, why });
    },
  );
});

describe("a claim's first version", () => {
  const versionOf = (text: string): number => {
    const step = applyActivation(null, { type: "claim", claim: text }, 0);
    return step.applied ? step.next.version : 0;
  };

  /** How many of the bits, from the least to the greatest, are set in about half of the versions. */
  function evenBits(claims: readonly string[]): number {
    const versions = claims.map((text) => BigInt(versionOf(text) - 1));
    return Array.from({ length: 52 }, (_, bit) => {
      const set = versions.filter((version) => ((version >> BigInt(bit)) & 1n) === 1n).length;
      return Math.abs(set - claims.length / 2) < claims.length / 16;
    }).filter(Boolean).length;
  }

  it.each([
    ["last", (index: number) => `0123456789abcdef${index.toString(16)}`],
    ["first", (index: number) => `${index.toString(16)}0123456789abcdef`],
  ])("spreads over all 52 bits where claims differ in their %s characters only", (_, claimOf) => {
    const claims = Array.from({ length: 4000 }, (_each, index) => claimOf(index));
    expect(evenBits(claims)).toBe(52);
    expect(new Set(claims.map(versionOf)).size).toBe(4000);
  });

  it("differs where the same characters stand in another order", () => {
    expect(new Set(["abcd", "abdc", "bacd", "dcba", "cdab"].map(versionOf)).size).toBe(5);
  });
});

describe("the ledger", () => {
  it("that refuses a hundred writes in a row is given up", async () => {
    let writes = 0;
    const refusing: ActivationLedger = {
      read: () => null,
      compareAndSwap: () => {
        writes += 1;
        return false;
      },
    };
    await expect(stopActivation(refusing, "i-1", 1)).rejects.toMatchObject({
      code: "COMMIT_FAILED",
      message: "The activation ledger refused 100 writes in a row",
      field: "instanceId",
      value: "i-1",
    });
    expect(writes).toBe(100);
  });

  it("may be over a map, which answers undefined where there is nothing", async () => {
    const rows = new Map<string, ActivationEntry>();
    const ledger = {
      read: (id: string) => rows.get(id),
      compareAndSwap: (id: string, expected: number | null, next: ActivationEntry) => {
        if ((rows.get(id)?.version ?? null) !== expected) return false;
        rows.set(id, next);
        return true;
      },
    } as unknown as ActivationLedger;
    expect(await completeActivation(ledger, "i-1", 1)).toBeNull();
    expect(await stopActivation(ledger, "i-1", 2)).toEqual({
      entry: { state: "stopped", version: 1, claim: null, at: 2 },
      workloadMayRun: false,
    });
  });

  it("says after a stop that came too late what came before it, and that nothing runs", async () => {
    const ledger = new InMemoryActivationLedger();
    await ledger.compareAndSwap("i-1", null, entry("active"));
    expect(await completeActivation(ledger, "i-1", 5)).toEqual({ ...entry("completed"), version: 8, at: 5 });
    expect(await stopActivation(ledger, "i-1", 6)).toEqual({
      entry: { ...entry("completed"), version: 8, at: 5 },
      workloadMayRun: false,
    });
  });
});
