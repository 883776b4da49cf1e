import type { ActivationEntry } from "slipway/retry";
import { judgeClaim, judgeSwap } from "../decide/activation-swap.js";
import { observeTime } from "../decide/decision.js";
import { overReason, type SandboxRecord } from "../record/record.js";
import type { ActivationSwap } from "./activations.js";
import type { Gateway } from "./gateway.js";

export const NOT_CURRENT = "these credentials are not of a current run";

/** Who asks, by the secret of its attempt and the number of its run. */
export interface SupervisorCaller {
  readonly id: string;
  readonly token: string;
  readonly run: number;
}

interface Refusal {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
}

/** A record as time had made it by `now`. */
interface RecordLook {
  readonly ok: true;
  readonly record: SandboxRecord;
  readonly now: number;
}

/** An answer, and the look at the record that it goes by. */
export type LedgerAnswer<Value> = (RecordLook & { readonly value: Value }) | Refusal;

/**
 * The activation ledger as supervisors use it.
 *
 * The ledger and the records are two stores, and any time may pass between two looks: a database is slow, a process is
 * stopped and goes on. Whatever lets a main process be started goes by a look at the record that was begun after the
 * ledger had said what it says. An attempt that was over by then starts nothing, whoever ended it; one that ends later
 * ends with the time that the answer tells, and with its cleanup.
 */
export class SupervisorLedger {
  readonly #gateway: Gateway;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /**
   * Of an attempt that is over only what was decided is shown. Who had written a claim, and not heard so, would take it
   * for granted.
   */
  async read(caller: SupervisorCaller): Promise<LedgerAnswer<ActivationEntry | null>> {
    const look = await this.#look(caller);
    if (!look.ok) return look;
    const isOpen = look.value === null || look.value.state === "activating";
    const over = isOpen ? overReason(look.record) : null;
    return over === null ? look : { ok: false, code: over, message: `the sandbox is ${look.record.phase}` };
  }

  /** `false` asks for another look. */
  async swap(caller: SupervisorCaller, swap: ActivationSwap): Promise<LedgerAnswer<boolean>> {
    const { activations } = this.#gateway;
    const look = await this.#look(caller);
    if (!look.ok) return look;
    const judged = judgeSwap(look.record, caller.run, look.value, swap);
    if (judged === "conflict") return { ...look, value: false };
    if (judged !== "try") return this.#refuse(caller, judged);
    const swapped = await activations.swap(look.record, swap);
    if (!swapped || swap.next?.state !== "activating") return { ...look, value: swapped };
    return this.#granted(caller, look.record, swap.next);
  }

  /**
   * A claim that was written is granted by a record that still allows it. Where that cannot be read the claim stays, and
   * its supervisor asks again: then `read` goes by the record.
   */
  async #granted(
    caller: SupervisorCaller,
    claimed: SandboxRecord,
    claim: ActivationEntry,
  ): Promise<LedgerAnswer<boolean>> {
    const look = await this.#record(caller);
    if (!look.ok) {
      await this.#gateway.activations.withdraw(claimed, claim);
      return look;
    }
    const judged = judgeClaim(look.record, caller.run);
    if (judged === "try") return { ...look, value: true };
    await this.#gateway.activations.withdraw(claimed, claim);
    return this.#refuse(caller, judged);
  }

  /** The entry, and the record as it is after that was read. */
  async #look(caller: SupervisorCaller): Promise<LedgerAnswer<ActivationEntry | null>> {
    const before = await this.#record(caller);
    if (!before.ok) return before;
    const value = await this.#gateway.activations.read(before.record);
    const look = await this.#record(caller);
    return look.ok ? { ...look, value } : look;
  }

  async #record({ id, token, run }: SupervisorCaller): Promise<RecordLook | Refusal> {
    const found = await this.#gateway.authenticate(id, token, run);
    if (typeof found === "string") return { ok: false, code: found, message: NOT_CURRENT };
    const now = this.#gateway.clock.now();
    // An expiry that nobody wrote yet is one all the same.
    return { ok: true, record: observeTime(found.record, now), now };
  }

  #refuse({ id }: SupervisorCaller, { code, message }: Omit<Refusal, "ok">): Refusal {
    const { refusals, clock } = this.#gateway;
    refusals.note(id, "activation", code, clock.now());
    return { ok: false, code, message };
  }
}
