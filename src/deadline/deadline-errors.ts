import { SlipwayError } from "../errors.js";
import type { StartRefusal } from "./start.js";
import type { DeadlineExpiry } from "./state.js";

/**
 * The reason with which a deadline's `signal` aborts when it expires.
 *
 * @public
 */
export class DeadlineExpiredError extends SlipwayError {
  override readonly name = "DeadlineExpiredError";
  readonly attempt: string;
  readonly expiry: DeadlineExpiry;

  constructor(attempt: string, expiry: DeadlineExpiry) {
    super("DEADLINE_EXPIRED", `${expiry.reason}: ${expiry.message}`);
    this.attempt = attempt;
    this.expiry = expiry;
  }
}

/**
 * Thrown by `PhasedDeadline.start` when the rules forbid the start; `startAttempt` returns the same as a value.
 *
 * @public
 */
export class StartRefusedError extends SlipwayError {
  override readonly name = "StartRefusedError";
  readonly refused: StartRefusal;
  /** On `parent-too-short`: what the parent leaves. */
  readonly remainingMs: number | undefined;

  constructor(refused: StartRefusal, remainingMs: number | undefined) {
    const rest = remainingMs === undefined ? "" : ` (${remainingMs} ms are left)`;
    const field =
      refused === "parent-too-short" ? "parent" : refused === "token-reused" ? "attempt" : "previous";
    super("START_REFUSED", `The attempt may not start: ${refused}${rest}`, { field });
    this.refused = refused;
    this.remainingMs = remainingMs;
  }
}
