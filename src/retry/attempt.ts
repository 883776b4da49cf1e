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

type Settle = (value: unknown) => void;

/**
 * One call of the operation. The operation gets it as its context, so what ends it is out of its reach: only this
 * module's own functions have access.
 */
export class Attempt implements AttemptContext {
  readonly attempt: number;
  readonly #bound: { remainingMs(): number };
  readonly #isRefresh: boolean;
  #controller: AbortController | undefined;
  /** Boxed, because a reason may be anything. */
  #givenUp: { readonly reason: unknown } | undefined;
  /** Settle the promise of the attempt. Absent until somebody waits for it. */
  #resolve: Settle | undefined;
  #reject: Settle | undefined;

  constructor(attempt: number, isRefresh: boolean, bound: { remainingMs(): number }) {
    this.attempt = attempt;
    this.#isRefresh = isRefresh;
    this.#bound = bound;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#givenUp !== undefined) this.#controller.abort(this.#givenUp.reason);
    }
    return this.#controller.signal;
  }

  get remainingMs(): number {
    return this.#bound.remainingMs();
  }

  /** Whether it gets new credentials, and is no attempt of the operation. */
  static isRefresh(attempt: Attempt): boolean {
    return attempt.#isRefresh;
  }

  static giveUp(attempt: Attempt, reason: unknown): void {
    attempt.#givenUp = { reason };
    attempt.#controller?.abort(reason);
  }

  /** Whether somebody waits for its promise. */
  static isAwaited(attempt: Attempt): boolean {
    return attempt.#resolve !== undefined;
  }

  static awaitedBy(attempt: Attempt, resolve: Settle, reject: Settle): void {
    attempt.#resolve = resolve;
    attempt.#reject = reject;
  }

  static resolve(attempt: Attempt, value: unknown): void {
    attempt.#resolve?.(value);
  }

  static reject(attempt: Attempt, reason: unknown): void {
    attempt.#reject?.(reason);
  }
}
