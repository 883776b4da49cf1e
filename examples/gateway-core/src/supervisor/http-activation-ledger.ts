import type { ActivationEntry, ActivationLedger } from "slipway/retry";
import type { GatewayLink } from "./gateway-link.js";

/**
 * The gateway's ledger, over the supervisor's authenticated line. The credentials name the one instance whose entry
 * may be seen and changed, so the id of a call is not sent.
 */
export class HttpActivationLedger implements ActivationLedger {
  readonly #link: GatewayLink;
  readonly #signal: AbortSignal;

  /** @param signal - Gives requests up that nobody waits for any more. */
  constructor(link: GatewayLink, signal: AbortSignal) {
    this.#link = link;
    this.#signal = signal;
  }

  read(): Promise<ActivationEntry | null> {
    return this.#link.readActivation(this.#signal);
  }

  compareAndSwap(
    _instanceId: string,
    expectedVersion: number | null,
    next: ActivationEntry | null,
  ): Promise<boolean> {
    return this.#link.swapActivation(expectedVersion, next, this.#signal);
  }
}
