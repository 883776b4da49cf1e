import type { Clock } from "slipway";
import { ApiError, ApiUnreachableError } from "./api-error.js";
import { onAbort } from "./on-abort.js";

/** A signal that aborts with the caller's, and by itself when nothing came for too long. */
export class LimitedRequest implements Disposable {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #aborted: Disposable | null;
  #dueAt: number;
  #ringsAt = 0;
  #alarm: Disposable;

  constructor(clock: Clock, parent: AbortSignal, limitMs: number) {
    this.#clock = clock;
    this.#parent = parent;
    const abort = (): void => this.#controller.abort(parent.reason);
    if (parent.aborted) abort();
    this.#aborted = parent.aborted ? null : onAbort(parent, abort);
    this.#dueAt = clock.now() + limitMs;
    this.#alarm = this.#arm();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something came: the time counts anew. An alarm that is set for earlier looks again when it fires. */
  renew(limitMs: number): void {
    this.#dueAt = this.#clock.now() + limitMs;
    if (this.#dueAt >= this.#ringsAt) return;
    this.#alarm[Symbol.dispose]();
    this.#alarm = this.#arm();
  }

  /** The caller's own reason when it aborted, else what the transport met. */
  explain(error: unknown, request: string): unknown {
    if (this.#parent.aborted) return this.#parent.reason;
    if (error instanceof ApiError || error instanceof ApiUnreachableError) return error;
    const what = this.signal.aborted
      ? "no answer in time"
      : error instanceof Error
        ? error.message
        : String(error);
    return new ApiUnreachableError(`${request}: ${what}`, { cause: error });
  }

  [Symbol.dispose](): void {
    this.#alarm[Symbol.dispose]();
    this.#aborted?.[Symbol.dispose]();
  }

  #arm(): Disposable {
    this.#ringsAt = this.#dueAt;
    return this.#clock.schedule(this.#dueAt, () => {
      if (this.#clock.now() < this.#dueAt) this.#alarm = this.#arm();
      else this.#controller.abort(new ApiUnreachableError("no answer in time"));
    });
  }
}
