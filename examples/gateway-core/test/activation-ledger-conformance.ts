import assert from "node:assert/strict";
import {
  applyActivation,
  bootstrapSequence,
  completeActivation,
  stopActivation,
  type ActivationEntry,
  type ActivationLedger,
} from "slipway/retry";

/** Opens a connection. All connections of one case share one empty ledger. */
type OpenLedger = () => Promise<ActivationLedger>;

/** One thing that every activation ledger must do. Framework-free: `run` throws when the ledger does not do it. */
export interface LedgerCase {
  readonly name: string;
  readonly run: (open: OpenLedger) => Promise<void>;
}

const first: ActivationEntry = { state: "activating", version: 1, claim: "a", at: 1_790_000_000_123 };

function claimOf(claim: string): ActivationEntry {
  const step = applyActivation(null, { type: "claim", claim }, 5);
  assert.ok(step.applied);
  return step.next;
}

async function start(ledger: ActivationLedger, instanceId: string, activate: () => unknown) {
  return bootstrapSequence({ instanceId, ledger, steps: [], activate });
}

/** A line to a ledger that loses the answer to a claim, so that it is given back, and keeps what it sent to do so. */
class Unreliable implements ActivationLedger {
  readonly #ledger: ActivationLedger;
  #tellReleased: () => void = () => undefined;
  #release: (() => unknown) | undefined;
  readonly released = new Promise<void>((resolve) => {
    this.#tellReleased = resolve;
  });

  constructor(ledger: ActivationLedger) {
    this.#ledger = ledger;
  }

  read(instanceId: string): ReturnType<ActivationLedger["read"]> {
    return this.#ledger.read(instanceId);
  }

  async compareAndSwap(
    instanceId: string,
    expectedVersion: number | null,
    next: ActivationEntry | null,
  ): Promise<boolean> {
    const send = (): ReturnType<ActivationLedger["compareAndSwap"]> =>
      this.#ledger.compareAndSwap(instanceId, expectedVersion, next);
    const isDone = await send();
    if (next !== null) throw new Error("the answer is lost");
    this.#release = send;
    this.#tellReleased();
    return isDone;
  }

  async deliverAgain(): Promise<void> {
    await this.#release?.();
  }
}

export const activationLedgerConformance: readonly LedgerCase[] = [
  {
    name: "an instance without an entry reads as null, and a swap on any version invents none",
    run: async (open) => {
      const ledger = await open();
      assert.equal(await ledger.read("i"), null);
      assert.equal(await ledger.compareAndSwap("i", 1, { ...first, version: 2 }), false);
      assert.equal(await ledger.compareAndSwap("i", 1, null), false);
      assert.equal(await ledger.read("i"), null);
    },
  },
  {
    name: "an entry comes back as it was, with a claim and without, and a word of a newer version too",
    run: async (open) => {
      const ledger = await open();
      const entries = [
        first,
        { ...first, claim: null, state: "stopped" as const },
        { ...first, claim: 'ü "\u0000', state: "napping" as "active" },
      ];
      for (const [index, entry] of entries.entries()) {
        assert.equal(await ledger.compareAndSwap(`i-${index}`, null, entry), true);
        assert.deepEqual({ ...(await ledger.read(`i-${index}`)) }, entry);
      }
    },
  },
  {
    name: "a swap on an old, a future or no version changes nothing",
    run: async (open) => {
      const ledger = await open();
      await ledger.compareAndSwap("i", null, first);
      const next: ActivationEntry = { state: "active", version: 2, claim: "a", at: 5 };
      assert.equal(await ledger.compareAndSwap("i", 1, next), true);
      for (const version of [null, 0, 1, 3]) {
        assert.equal(await ledger.compareAndSwap("i", version, { ...first, version: 9 }), false);
        assert.equal(await ledger.compareAndSwap("i", version, null), false);
      }
      assert.deepEqual({ ...(await ledger.read("i")) }, next);
    },
  },
  {
    name: "an entry that is removed can be claimed anew, and others stay",
    run: async (open) => {
      const ledger = await open();
      await ledger.compareAndSwap("i", null, first);
      await ledger.compareAndSwap("other", null, first);
      assert.equal(await ledger.compareAndSwap("i", 1, null), true);
      assert.equal(await ledger.read("i"), null);
      assert.equal(await ledger.compareAndSwap("i", null, null), true);
      assert.equal(await ledger.compareAndSwap("i", null, first), true);
      assert.deepEqual({ ...(await ledger.read("other")) }, first);
    },
  },
  {
    name: "a message about a claim that was given back never touches the claim after it, whenever it arrives",
    run: async (open) => {
      const [ledger, late] = [await open(), await open()];
      const [gone, now] = [claimOf("gone"), claimOf("now")];
      assert.equal(await ledger.compareAndSwap("i", null, gone), true);
      assert.equal(await ledger.compareAndSwap("i", gone.version, null), true);
      assert.equal(await ledger.compareAndSwap("i", null, now), true);
      const started: ActivationEntry = { ...gone, state: "active", version: gone.version + 1 };
      for (const next of [null, started, { ...started, state: "stopped" as const }])
        assert.equal(await late.compareAndSwap("i", gone.version, next), false);
      assert.deepEqual({ ...(await ledger.read("i")) }, now);
    },
  },
  {
    name: "a release that the network delivers again lets no second start through",
    run: async (open) => {
      const ledger = await open();
      const wire = new Unreliable(ledger);
      const given = bootstrapSequence({
        instanceId: "i",
        ledger: wire,
        steps: [],
        activate: () => assert.fail("the claim was given up"),
        retrier: { maxAttempts: 1 },
      });
      await assert.rejects(given);
      await wire.released;
      let starts = 0;
      await start(await open(), "i", async () => {
        starts += 1;
        await wire.deliverAgain();
        await start(ledger, "i", () => (starts += 1));
      });
      assert.equal(starts, 1);
    },
  },
  {
    name: "of many connections that claim one instance exactly one wins",
    run: async (open) => {
      const ledgers = await Promise.all(Array.from({ length: 8 }, open));
      const wins = await Promise.all(
        ledgers.map(async (ledger, index) =>
          ledger.compareAndSwap("i", null, { ...first, claim: `c-${index}` }),
        ),
      );
      assert.equal(wins.filter(Boolean).length, 1);
      assert.equal((await ledgers[0]?.read("i"))?.claim, `c-${wins.indexOf(true)}`);
    },
  },
  {
    name: "of many sequences on one instance exactly one starts the workload",
    run: async (open) => {
      let started = 0;
      const ledgers = await Promise.all(Array.from({ length: 6 }, open));
      const results = await Promise.all(ledgers.map((ledger) => start(ledger, "i", () => (started += 1))));
      assert.equal(started, 1);
      assert.equal(results.filter(({ outcome }) => outcome === "activated").length, 1);
      assert.equal((await ledgers[0]?.read("i"))?.state, "active");
    },
  },
  {
    name: "of a start and a stop one wins, whichever comes first",
    run: async (open) => {
      for (let round = 0; round < 10; round += 1) {
        const [one, other] = [await open(), await open()];
        let started = 0;
        const starting = start(one, `i-${round}`, () => (started += 1));
        const { workloadMayRun, entry } = await stopActivation(other, `i-${round}`, round);
        const { outcome } = await starting;
        assert.equal(entry.state, "stopped");
        assert.equal(outcome === "activated" || outcome === "stopped", true, outcome);
        if (!workloadMayRun) assert.equal(started, 0);
        assert.equal((await one.read(`i-${round}`))?.state, "stopped");
      }
    },
  },
  {
    name: "what is stopped, completed, active or uncertain is never started again",
    run: async (open) => {
      const ledger = await open();
      await stopActivation(ledger, "stopped", 1);
      await start(ledger, "completed", () => undefined);
      await completeActivation(ledger, "completed", 2);
      await start(ledger, "already-active", () => undefined);
      await ledger.compareAndSwap("activation-uncertain", null, first);
      const again = await open();
      for (const outcome of ["stopped", "completed", "already-active", "activation-uncertain"]) {
        const result = await start(again, outcome, () => assert.fail(`${outcome} was replayed`));
        assert.deepEqual([result.outcome, result.started], [outcome, false]);
      }
    },
  },
];
