import { AbortError } from "p-retry";
import { unwatchAbort, watchAbort, type AbortWatcher } from "./abort-hub.js";

/** Who ended a run from outside. */
export type InterruptedBy = "caller" | "deadline";

/**
 * What the loop rejects with once a run is over. The real reason is kept by the run: it may be anything, and the
 * loop would wrap or judge it.
 */
export const STOP: AbortError = new AbortError("The run is over");

/** What the loop rejects with when another attempt follows. */
export const FAILED = new Error("The attempt failed");

/**
 * Ends one run when the caller's signal or the deadline's aborts: as much of an `AbortSignal` as `execute` needs,
 * without the price of one, and with one slot because a run does one thing at a time.
 */
export class Interruption implements AbortWatcher {
  aborted = false;
  readonly reason = STOP;
  readonly #caller: AbortSignal | undefined;
  readonly #deadline: AbortSignal | undefined;
  readonly #tell: (by: InterruptedBy) => void;
  #listener: (() => void) | undefined;

  /** @param tell - Called before the listener, once. */
  constructor(
    caller: AbortSignal | undefined,
    deadline: AbortSignal | undefined,
    tell: (by: InterruptedBy) => void,
  ) {
    this.#caller = caller;
    this.#deadline = deadline;
    this.#tell = tell;
    if (caller !== undefined) watchAbort(caller, this);
    if (deadline !== undefined) watchAbort(deadline, this);
  }

  signalAborted(signal: AbortSignal): void {
    this.fire(signal === this.#caller ? "caller" : "deadline");
  }

  fire(by: InterruptedBy): void {
    if (this.aborted) return;
    this.aborted = true;
    this.#tell(by);
    this.#listener?.();
  }

  /** Lets go of the signals. An abort that comes later tells nobody. */
  close(): void {
    if (this.#caller !== undefined) unwatchAbort(this.#caller, this);
    if (this.#deadline !== undefined) unwatchAbort(this.#deadline, this);
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listener = listener;
    // The operation itself may have aborted the signal, before there was anybody to tell.
    if (this.aborted) queueMicrotask(listener);
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }

  /** For `execute`, which looks at nothing else of a signal. */
  asSignal(): AbortSignal {
    return this as unknown as AbortSignal;
  }
}
