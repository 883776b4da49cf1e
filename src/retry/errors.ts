import { SlipwayError, type SlipwayErrorCode } from "../errors.js";
import type { AttemptFailure } from "./attempt-failure.js";
import type { FailureOutcome } from "./snapshot.js";

/**
 * What the errors of a bootstrap that ended without success have in common. `cause` is the last error that the
 * operation threw, by identity.
 *
 * @public
 */
export abstract class BootstrapError extends SlipwayError {
  /** The failed attempts: the first, and the latest up to `historyLimit`. */
  readonly attempts: readonly AttemptFailure[];

  /** For the library's own use. */
  protected constructor(
    code: SlipwayErrorCode,
    message: string,
    attempts: readonly AttemptFailure[],
    cause: unknown,
  ) {
    super(code, message, { cause });
    this.attempts = attempts;
  }

  /** The attempt that decided; `undefined` when there was none. */
  get lastFailure(): AttemptFailure | undefined {
    return this.attempts.at(-1);
  }
}

/**
 * No wait heals the failure, or it stayed suspect for too long. The last of `attempts` says which rule decided.
 *
 * @public
 */
export class BootstrapPermanentError extends BootstrapError {
  /** The name of the class. */
  override readonly name = "BootstrapPermanentError";
  /** Why credentials could not be refreshed, when that was tried. */
  readonly refreshError: unknown;

  /** For the library's own use: the message comes from the last of `attempts`. */
  constructor(attempts: readonly AttemptFailure[], cause: unknown, refreshError?: unknown) {
    const last = attempts.at(-1);
    const what = last === undefined ? "" : `: ${said(last)}. ${last.explanation}`;
    const held = last?.verdict === "suspect" ? "did not pass in time" : "is permanent";
    super("BOOTSTRAP_PERMANENT", `Bootstrap failure ${held}${what}`, attempts, cause);
    this.refreshError = refreshError;
  }
}

/** What stood in the way when the deadline ended a bootstrap. */
export interface DeadlineErrorDetail {
  /** The wait that would have followed, hint included; `null` when an attempt was cut off. */
  readonly waitMs: number | null;
  /** What was left of the deadline. */
  readonly remainingMs: number;
  /** The wait that the peer asked for; `null` when it asked for none. */
  readonly hintMs: number | null;
  /** What the deadline's own signal aborted with; `undefined` when it did not. */
  readonly deadlineReason: unknown;
}

/**
 * The deadline passed, or would have before the next attempt.
 *
 * @public
 */
export class BootstrapDeadlineError extends BootstrapError {
  /** The name of the class. */
  override readonly name = "BootstrapDeadlineError";
  /** See {@link DeadlineErrorDetail.waitMs}. */
  readonly waitMs: number | null;
  /** See {@link DeadlineErrorDetail.remainingMs}. */
  readonly remainingMs: number;
  /** See {@link DeadlineErrorDetail.hintMs}. */
  readonly hintMs: number | null;
  /** See {@link DeadlineErrorDetail.deadlineReason}. */
  readonly deadlineReason: unknown;

  /** For the library's own use: the message comes from `detail`. */
  constructor(attempts: readonly AttemptFailure[], cause: unknown, detail: DeadlineErrorDetail) {
    const { waitMs, remainingMs } = detail;
    const why =
      waitMs === null
        ? "The deadline passed"
        : `The next attempt is due in ${waitMs} ms, the deadline in ${remainingMs} ms`;
    super("BOOTSTRAP_DEADLINE", `Bootstrap ended: ${why}${after(attempts)}`, attempts, cause);
    this.waitMs = waitMs;
    this.remainingMs = remainingMs;
    this.hintMs = detail.hintMs;
    this.deadlineReason = detail.deadlineReason;
  }
}

/**
 * `maxAttempts` were made.
 *
 * @public
 */
export class BootstrapExhaustedError extends BootstrapError {
  /** The name of the class. */
  override readonly name = "BootstrapExhaustedError";
  /** How many attempts were allowed. */
  readonly maxAttempts: number;

  /** For the library's own use: the message names the last of `attempts`. */
  constructor(attempts: readonly AttemptFailure[], cause: unknown, maxAttempts: number) {
    super(
      "BOOTSTRAP_EXHAUSTED",
      `Bootstrap ended after ${maxAttempts} attempts${after(attempts)}`,
      attempts,
      cause,
    );
    this.maxAttempts = maxAttempts;
  }
}

/** The code with what the error said, where somebody said more than the rule that decided. */
function said({ code, message, explanation }: AttemptFailure): string {
  return message === explanation ? code : `${code}: ${message}`;
}

function after(attempts: readonly AttemptFailure[]): string {
  const last = attempts.at(-1);
  return last === undefined ? "" : `; last failure: ${last.code}`;
}

/** How a run failed that ended with this. A mistake of the program is as final as a permanent failure. */
export function failureOutcome(reason: unknown): FailureOutcome {
  if (reason instanceof BootstrapDeadlineError) return "deadline";
  return reason instanceof BootstrapExhaustedError ? "exhausted" : "permanent";
}
