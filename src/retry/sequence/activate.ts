import type { BootstrapRetrier } from "../bootstrap-retrier.js";
import {
  readEntry,
  recordActivation,
  type ActivationEntry,
  type ActivationEvent,
  type ActivationLedger,
  type ActivationStep,
} from "./activation.js";

type Outcome = "activated" | "already-active" | "stopped" | "completed" | "activation-uncertain";

/** What an entry found in the ledger says about a start. */
export interface Decided {
  readonly outcome: Outcome;
  readonly entry: ActivationEntry;
}

export interface ActivationEnd {
  readonly outcome: Outcome;
  readonly started: boolean;
  readonly entry: ActivationEntry | null;
  readonly error?: unknown;
}

type Recorded = Awaited<ReturnType<typeof recordActivation>>;

/** Writes of the final state that are tried: the workload runs by then, and only the record is behind. */
const FINAL_WRITES = 5;

/** The one activation of one instance, from the claim in the ledger to the record that it took place. */
export class Activation {
  readonly #ledger: ActivationLedger;
  readonly #instanceId: string;
  readonly #claim: string;
  readonly #retrier: BootstrapRetrier;
  #isTaken = false;
  #isGivenUp = false;

  constructor(ledger: ActivationLedger, instanceId: string, claim: string, retrier: BootstrapRetrier) {
    this.#ledger = ledger;
    this.#instanceId = instanceId;
    this.#claim = claim;
    this.#retrier = retrier;
  }

  /** Whether the instance was decided before: then not even the steps are run. */
  async look(): Promise<Decided | null> {
    const entry = await this.#retrier.runBeside(() => readEntry(this.#ledger, this.#instanceId));
    return entry === null ? null : decidedBy(entry);
  }

  /** Claims, starts, records. The retrier checks deadline and signal before the claim. */
  async take(start: () => unknown): Promise<ActivationEnd> {
    const { entry, step } = await this.#claimInstance();
    if (!this.#holds(entry, step)) return { ...decidedOr(entry), started: false };
    try {
      await start();
    } catch (error) {
      return { outcome: "activation-uncertain", started: true, entry, error };
    }
    return this.#recordStart(entry);
  }

  async #claimInstance(): Promise<Recorded> {
    try {
      const recorded = await this.#retrier.runBeside(() => this.#claimOnce());
      this.#isTaken = this.#holds(recorded.entry, recorded.step);
      return recorded;
    } catch (error) {
      this.#isGivenUp = true;
      void this.#release();
      throw error;
    }
  }

  /** A write that was given up may still arrive: whichever comes last, the write or the end, takes it back. */
  async #claimOnce(): Promise<Recorded> {
    try {
      return await this.#record({ type: "claim", claim: this.#claim });
    } finally {
      if (this.#isGivenUp) void this.#release();
    }
  }

  /** Also after a write whose answer was lost: the claim in the entry is this one's, and it started nothing yet. */
  #holds(entry: ActivationEntry | null, step: ActivationStep): boolean {
    return step.applied || (entry?.state === "activating" && entry.claim === this.#claim);
  }

  /** Nothing was started, and nothing will be: without this the instance would look uncertain for ever. */
  async #release(): Promise<void> {
    try {
      const entry = await this.#ledger.read(this.#instanceId);
      if (this.#isTaken || entry?.state !== "activating" || entry.claim !== this.#claim) return;
      await this.#ledger.compareAndSwap(this.#instanceId, entry.version, null);
    } catch {
      // The entry stays, and reads as uncertain: the safe side.
    }
  }

  /** Not bounded by the deadline or the caller: what has been started has to be on record. */
  async #recordStart(claimed: ActivationEntry | null): Promise<ActivationEnd> {
    const event: ActivationEvent = { type: "started", claim: this.#claim };
    const limits = { signal: undefined, deadline: undefined, maxAttempts: FINAL_WRITES };
    try {
      const { entry, step } = await this.#retrier.runBeside(() => this.#record(event), limits);
      if (step.applied || entry === null) return { outcome: "activated", started: true, entry };
      const { outcome } = decidedBy(entry);
      return { outcome: outcome === "already-active" ? "activated" : outcome, started: true, entry };
    } catch (error) {
      return { outcome: "activated", started: true, entry: claimed, error };
    }
  }

  #record(event: ActivationEvent): Promise<Recorded> {
    return recordActivation(this.#ledger, this.#instanceId, event, () => this.#retrier.options.clock.now());
  }
}

function decidedBy(entry: ActivationEntry): Decided {
  switch (entry.state) {
    case "active":
      return { outcome: "already-active", entry };
    case "stopped":
    case "completed":
      return { outcome: entry.state, entry };
    default:
      // `activating`, or a word of a newer version: nobody knows whether the workload ran.
      return { outcome: "activation-uncertain", entry };
  }
}

function decidedOr(entry: ActivationEntry | null): Omit<ActivationEnd, "started"> {
  return entry === null ? { outcome: "activation-uncertain", entry } : decidedBy(entry);
}
