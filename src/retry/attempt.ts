import { read } from "./classify/inspect.js";

/**
 * What an operation gets for one attempt.
 *
 * @public
 */
export interface AttemptContext {
  /** 1 for the first attempt of the run. */
  readonly attempt: number;
  /**
   * Aborts when the attempt is given up: by the caller, by the deadline, or because it took too long. Made when it
   * is first read, so an operation that does not look at it pays nothing.
   */
  readonly signal: AbortSignal;
  /** Milliseconds to the deadline at the moment of reading; `Infinity` without one. */
  readonly remainingMs: number;
}

/** Who made an attempt, and hears how it went. */
export interface AttemptOwner {
  remainingMs(): number;
  /** Takes what an attempt gave after it was given up. */
  takeLate(value: unknown): void;
}

/** How one attempt ended, for whoever waits for it. */
export interface AttemptEnd {
  gave(value: unknown): void;
  threw(error: unknown): void;
}

/** One call of the operation, which ends once: by its result, by its error, or by being given up. */
export class Attempt implements AttemptContext {
  readonly attempt: number;
  readonly #owner: AttemptOwner;
  #end: AttemptEnd | undefined;
  #controller: AbortController | undefined;
  /** Boxed, because a reason may be anything. */
  #givenUp: { readonly reason: unknown } | undefined;

  constructor(owner: AttemptOwner, attempt: number) {
    this.#owner = owner;
    this.attempt = attempt;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#givenUp !== undefined) this.#controller.abort(this.#givenUp.reason);
    }
    return this.#controller.signal;
  }

  get remainingMs(): number {
    return this.#owner.remainingMs();
  }

  begin(work: (context: AttemptContext) => unknown, end: AttemptEnd): void {
    this.#end = end;
    try {
      const result = work(this);
      // A result that is no promise still arrives a microtask later: one order of events for every operation.
      Promise.resolve(result).then(this.#gave, this.#threw);
    } catch (error) {
      this.#threw(error);
    }
  }

  /** Ends the attempt from outside. Nothing that the operation does later counts, but its value is not lost. */
  giveUp(reason: unknown): void {
    this.#end = undefined;
    this.#givenUp = { reason };
    this.#controller?.abort(reason);
  }

  readonly #gave = (value: unknown): void => {
    const end = this.#end;
    this.#end = undefined;
    if (end === undefined) this.#owner.takeLate(value);
    else end.gave(value);
  };

  readonly #threw = (error: unknown): void => {
    const end = this.#end;
    this.#end = undefined;
    end?.threw(error);
  };
}

/** Calls what is not ours to trust: neither a throw nor a rejection leaves here. */
export function callHook<Value>(
  hook: ((value: Value) => unknown) | undefined,
  value: Value,
  onError: ((error: unknown) => void) | undefined,
): void {
  if (hook === undefined) return;
  const report = (error: unknown): void => {
    try {
      onError?.(error);
    } catch {
      // Nobody is left to tell.
    }
  };
  try {
    const result = hook(value);
    if (typeof read(result, "then") === "function") Promise.resolve(result).then(undefined, report);
  } catch (error) {
    report(error);
  }
}
