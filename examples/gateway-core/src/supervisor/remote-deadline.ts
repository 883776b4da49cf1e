import type { Clock } from "slipway";
import type { RetryDeadline } from "slipway/retry";

/** The bootstrap took longer than the gateway, or before its first answer the launch, allowed. */
export class BootstrapTimeError extends Error {
  override readonly name = "BootstrapTimeError";
}

/**
 * The deadline of a bootstrap, which the gateway keeps: every authenticated answer says what was left of it, measured
 * from no later than the gateway's look, so that however long the answer was on its way there is never more time here
 * than there. Until the first one the budget of the launch holds, so that a gateway that never comes is given up as
 * well. Once it passed it stays so.
 */
export class RemoteDeadline implements RetryDeadline {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  /** Of the gateway's deadline, as the latest answer knew it. */
  #version = 0;
  /** `null` for none. */
  #endsAt: number | null = null;
  #alarm: Disposable | undefined;

  constructor(clock: Clock, budgetMs: number) {
    this.#clock = clock;
    this.told(budgetMs, clock.now());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  remainingMs(): number {
    if (this.signal.aborted) return 0;
    return this.#endsAt === null ? Number.POSITIVE_INFINITY : this.#endsAt - this.#clock.now();
  }

  /**
   * @param remainingMs - `null`: the gateway's deadline is over with, as for a sandbox that is ready.
   * @param asOf - When so much was left, or before.
   * @param version - Of the deadline that was looked at, `null` where the gateway does not say. Answers overtake one
   *   another: one that knows less than an earlier one says nothing.
   */
  told(remainingMs: number | null, asOf: number, version: number | null = null): void {
    if (version !== null && version < this.#version) return;
    this.#version = version ?? this.#version;
    if (this.remainingMs() <= 0 && this.#endsAt !== null) return;
    this.#endsAt = remainingMs === null ? null : asOf + remainingMs;
    this.#arm();
  }

  [Symbol.dispose](): void {
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = undefined;
  }

  #arm(): void {
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = undefined;
    if (this.#endsAt === null) return;
    this.#alarm = this.#clock.schedule(this.#endsAt, () => {
      // A host timer may fire early.
      if (this.remainingMs() > 0) this.#arm();
      else this.#controller.abort(new BootstrapTimeError("The bootstrap took longer than allowed"));
    });
  }
}
