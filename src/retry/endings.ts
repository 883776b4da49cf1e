import { BootstrapDeadlineError, BootstrapExhaustedError, BootstrapPermanentError } from "./errors.js";
import type { RetryDecision } from "./progress.js";
import type { RunRecord } from "./run-record.js";

/** What the record of a run says when it ends without a value. */

export function permanentEnd(record: RunRecord, refreshError?: unknown): BootstrapPermanentError {
  return new BootstrapPermanentError(record.history, record.cause(), refreshError);
}

export function exhaustedEnd(record: RunRecord): BootstrapExhaustedError {
  return new BootstrapExhaustedError(record.history, record.cause(), record.options.maxAttempts);
}

/** @param wait - The wait that the deadline did not leave room for; absent when it passed during an attempt. */
export function deadlineEnd(
  record: RunRecord,
  wait: Partial<Pick<RetryDecision, "waitMs" | "hintMs">> = {},
): BootstrapDeadlineError {
  // A signal that is not aborted has no reason.
  const deadlineReason: unknown = record.options.deadline?.signal.reason;
  return new BootstrapDeadlineError(record.history, record.cause() ?? deadlineReason, {
    waitMs: wait.waitMs ?? null,
    hintMs: wait.hintMs ?? null,
    remainingMs: record.remainingMs(),
    deadlineReason,
  });
}
