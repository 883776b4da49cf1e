import type { Clock } from "slipway";

/** Ends a piece of work when its time is over, or when its caller gives it up. Dispose of it when the work is done. */
export class Limit implements Disposable {
  readonly #controller = new AbortController();
  readonly #alarm: Disposable;
  readonly #caller: AbortSignal | undefined;

  constructor(clock: Clock, ms: number, caller?: AbortSignal) {
    this.#caller = caller;
    const late = new DOMException(`It took longer than ${ms} ms`, "TimeoutError");
    this.#alarm = clock.schedule(clock.now() + ms, () => this.#controller.abort(late));
    if (caller?.aborted === true) this.#pass();
    else caller?.addEventListener("abort", this.#pass);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#alarm[Symbol.dispose]();
    this.#caller?.removeEventListener("abort", this.#pass);
  }

  readonly #pass = (): void => this.#controller.abort(this.#caller?.reason);
}

/** Does the work within a limit. */
export async function within<T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  caller?: AbortSignal,
): Promise<T> {
  const limit = new Limit(clock, ms, caller);
  try {
    return await work(limit.signal);
  } finally {
    limit[Symbol.dispose]();
  }
}
