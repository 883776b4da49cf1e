import type { Verdict } from "./verdict.js";

/** What a mark says about the error that it wraps. */
export interface MarkOptions {
  /** Code to report. Default: the code of the wrapped error. */
  readonly code?: string | undefined;
  /** Why. Default: that the operation said so. */
  readonly explanation?: string | undefined;
}

/**
 * What {@link transient} says about the error that it wraps.
 *
 * @public
 */
export interface TransientMarkOptions extends MarkOptions {
  /** Floor for the next wait, milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * An error with a verdict on it, which outranks every rule about the error that it wraps.
 *
 * @public
 */
export class MarkedError extends Error {
  /** The name of the class. */
  override readonly name = "MarkedError";
  /** Marks the class across copies of the package, where `instanceof` does not hold. */
  readonly "~slipway/verdict": Extract<Verdict, "transient" | "permanent">;
  /** See {@link MarkOptions.code}. */
  readonly code: string | undefined;
  /** See {@link MarkOptions.explanation}. */
  readonly explanation: string | undefined;
  /** See {@link TransientMarkOptions.retryAfterMs}. */
  readonly retryAfterMs: number | undefined;

  /** Use {@link permanent} and {@link transient} in place of it. */
  constructor(verdict: "transient" | "permanent", cause: unknown, options: TransientMarkOptions) {
    super(`Marked ${verdict} by the operation`, { cause });
    this["~slipway/verdict"] = verdict;
    this.code = options.code;
    this.explanation = options.explanation;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * Marks a failure that no waiting heals: thrown by an operation, it ends the bootstrap at once, whatever the error is.
 * {@link BootstrapPermanentError} carries the wrapped error as its cause.
 *
 * @example
 * ```ts
 * import { permanent, retryBootstrap } from "slipway/retry";
 *
 * const failed = retryBootstrap(() => {
 *   throw permanent(new Error("The policy names an unknown backend"));
 * });
 * await failed.catch((error: Error) => error.name); // => "BootstrapPermanentError"
 * ```
 *
 * @public
 */
export function permanent(error: unknown, options: MarkOptions = {}): MarkedError {
  return new MarkedError("permanent", error, options);
}

/**
 * Marks a failure that passes by itself: it is retried until the deadline, whatever the error is.
 *
 * @public
 */
export function transient(error: unknown, options: TransientMarkOptions = {}): MarkedError {
  return new MarkedError("transient", error, options);
}

/** The wrapped error of a mark, the error itself otherwise. */
export function unmarked(error: unknown): unknown {
  return isMarked(error) ? error.cause : error;
}

export function isMarked(error: unknown): error is MarkedError {
  try {
    return "~slipway/verdict" in (error as object);
  } catch {
    // `in` throws on what is no object, and so may a proxy.
    return false;
  }
}
