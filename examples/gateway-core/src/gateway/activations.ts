import type { Clock } from "slipway";
import {
  applyActivation,
  completeActivation,
  stopActivation,
  type ActivationEntry,
  type ActivationLedger,
} from "slipway/retry";
import type { SandboxRecord } from "../record/record.js";

/** A ledger that can let go of a sandbox that is deleted. */
export interface GatewayLedger extends ActivationLedger {
  /** Removes the entries of all instances of a sandbox. */
  forget(sandboxId: string): Promise<void>;
}

/** Asked for by a supervisor: the entry that is to take the place of the one it read. */
export interface ActivationSwap {
  readonly expectedVersion: number | null;
  readonly next: ActivationEntry | null;
}

export interface RecordLook {
  /** Whether there is a record of this sandbox. */
  readonly isThere: (sandboxId: string) => Promise<boolean>;
  /** Told when that could not be found out after a write, or what was written for nobody could not be taken back. */
  readonly onUnsure: (sandboxId: string, error: unknown) => void;
}

/** The activation ledger, by sandbox record: an entry belongs to the record's instance, and to no other. */
export class Activations {
  readonly #ledger: GatewayLedger;
  readonly #clock: Clock;
  readonly #look: RecordLook;

  constructor(ledger: GatewayLedger, clock: Clock, look: RecordLook) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#look = look;
  }

  async read(record: SandboxRecord): Promise<ActivationEntry | null> {
    const key = keyOf(record);
    return key === null ? null : this.#ledger.read(key);
  }

  /** The instant is this gateway's: a sandbox may have any clock. */
  async swap(record: SandboxRecord, { expectedVersion, next }: ActivationSwap): Promise<boolean> {
    const key = keyOf(record);
    if (key === null) return false;
    const dated = next === null ? null : { ...next, at: this.#clock.now() };
    return this.#unlessGone(record, async () => this.#ledger.compareAndSwap(key, expectedVersion, dated));
  }

  /** Whether a start was claimed, and never reported as done. */
  async isUncertain(record: SandboxRecord): Promise<boolean> {
    return (await this.read(record))?.state === "activating";
  }

  /** Whether the main process was started, and nobody said since that it ended or has to. */
  async isActive(record: SandboxRecord): Promise<boolean> {
    return (await this.read(record))?.state === "active";
  }

  /** An explicit stop or delete: of it and a start that is under way one wins. */
  async stop(record: SandboxRecord): Promise<void> {
    const key = keyOf(record);
    if (key === null) return;
    await this.#unlessGone(record, () => stopActivation(this.#ledger, key, this.#clock.now()));
  }

  /**
   * A claim that was written for an attempt which is over by now is taken back, for good: nothing starts this instance.
   * One that cannot be stays a claim that started nothing, which nobody else can have either. What came after it stands:
   * its supervisor has heard of it from another gateway, and went on.
   */
  async withdraw(record: SandboxRecord, claim: ActivationEntry): Promise<void> {
    const stopped = applyActivation(claim, { type: "stop" }, this.#clock.now());
    if (!stopped.applied) return;
    try {
      await this.swap(record, { expectedVersion: claim.version, next: stopped.next });
    } catch (error) {
      this.#look.onUnsure(record.id, error);
    }
  }

  /** The main process ended by itself: nothing starts it again for this instance. */
  async complete(record: SandboxRecord): Promise<void> {
    const key = keyOf(record);
    if (key === null) return;
    await this.#unlessGone(record, () => completeActivation(this.#ledger, key, this.#clock.now()));
  }

  forget(sandboxId: string): Promise<void> {
    return this.#ledger.forget(sandboxId);
  }

  /**
   * A removal that comes in between takes along what it finds, and what is written after it nobody would. What was
   * written stays written, whatever becomes of the look.
   */
  async #unlessGone<T>({ id }: SandboxRecord, write: () => Promise<T>): Promise<T> {
    const result = await write();
    const { isThere, onUnsure } = this.#look;
    try {
      if (!(await isThere(id))) await this.#ledger.forget(id);
    } catch (error) {
      onUnsure(id, error);
    }
    return result;
  }
}

/** A sandbox's id is in front, so that all of its entries can be found when it is deleted. */
function keyOf({ id, instance }: SandboxRecord): string | null {
  return instance === null ? null : `${id}/${instance.id}`;
}
