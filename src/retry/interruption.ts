import { unwatchAbort, watchAbort, type AbortWatcher } from "./abort-hub.js";

/** Who ended a run from outside. */
export type InterruptedBy = "caller" | "deadline";

/**
 * Something that the caller's signal, or the deadline's, may end from outside. To `execute` it is as much of a signal
 * as that looks at, without the price of one, and with one slot because a run does one thing at a time.
 */
export abstract class Interruption implements AbortWatcher {
  aborted = false;
  #listener: (() => void) | undefined;

  /** Called once, before whatever is under way is ended. */
  protected abstract interrupted(by: InterruptedBy): void;

  protected abstract isCaller(signal: AbortSignal): boolean;

  /** What a wait that is interrupted rejects with. */
  abstract get reason(): unknown;

  protected watch(caller: AbortSignal | undefined, deadline: AbortSignal | undefined): void {
    if (caller !== undefined) watchAbort(caller, this);
    if (deadline !== undefined) watchAbort(deadline, this);
  }

  /** An abort that comes later tells nobody. */
  protected unwatch(caller: AbortSignal | undefined, deadline: AbortSignal | undefined): void {
    if (caller !== undefined) unwatchAbort(caller, this);
    if (deadline !== undefined) unwatchAbort(deadline, this);
  }

  protected interrupt(by: InterruptedBy): void {
    if (this.aborted) return;
    this.aborted = true;
    this.interrupted(by);
    this.#listener?.();
  }

  protected asSignal(): AbortSignal {
    return this as unknown as AbortSignal;
  }

  signalAborted(signal: AbortSignal): void {
    this.interrupt(this.isCaller(signal) ? "caller" : "deadline");
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listener = listener;
    // Whoever began may have aborted the signal itself, before there was anybody to tell.
    if (this.aborted) queueMicrotask(listener);
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }
}

// What the loop takes for an error, see `Pausing`.
Object.setPrototypeOf(Interruption.prototype, Error.prototype);
