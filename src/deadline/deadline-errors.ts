import { SlipwayError } from "../errors.js";
import type { StartRefusal } from "./start.js";
import type { DeadlineExpiry, DeadlineState } from "./state.js";

/**
 * The reason with which a deadline's `signal` aborts when it expires.
 *
 * @public
 */
export class DeadlineExpiredError extends SlipwayError {
  /** The name of the class. */
  override readonly name = "DeadlineExpiredError";
  /** The fencing token of the attempt that expired. */
  readonly attempt: string;
  /** Which bound passed, when, and the reason to publish. */
  readonly expiry: DeadlineExpiry;

  /** For the library's own use: the message is the expiry's reason and message. */
  constructor(attempt: string, expiry: DeadlineExpiry) {
    super("DEADLINE_EXPIRED", `${expiry.reason}: ${expiry.message}`);
    this.attempt = attempt;
    this.expiry = expiry;
  }
}

/** The rules in words. No token is shown: whoever has an attempt's may act for it. */
const WHY: Readonly<Record<StartRefusal, string>> = {
  "previous-active": "the attempt before it (`previous`) is still active",
  "token-reused": "its token is that of `previous`, so mint a new one",
  "cleanup-pending": "the cleanup of the attempt before it (`previous`) is pending",
  "parent-too-short": "its parent leaves less than `minStartMs`",
};

/**
 * Thrown by `PhasedDeadline.start` when the rules forbid the start; `startAttempt` returns the same as a value.
 *
 * @public
 */
export class StartRefusedError extends SlipwayError {
  /** The name of the class. */
  override readonly name = "StartRefusedError";
  /** Why the attempt may not start. */
  readonly refused: StartRefusal;
  /** On `parent-too-short`: what the parent leaves. */
  readonly remainingMs: number | undefined;

  /** For the library's own use: `field` names the option that stands in the way. */
  constructor(refused: StartRefusal, remainingMs: number | undefined) {
    const rest = remainingMs === undefined ? "" : ` (${remainingMs} ms are left)`;
    const why = WHY[refused];
    const field =
      refused === "parent-too-short" ? "parent" : refused === "token-reused" ? "attempt" : "previous";
    super("START_REFUSED", `The attempt may not start: ${refused}${rest}: ${why}`, { field });
    this.refused = refused;
    this.remainingMs = remainingMs;
  }
}

/**
 * What a deadline's signal aborts with: of an attempt that expired or was cancelled.
 *
 * @internal
 */
export function stopReason({ attempt, expiry, cancellation }: DeadlineState): unknown {
  return expiry === null ? cancellation?.reason : new DeadlineExpiredError(attempt, expiry);
}
