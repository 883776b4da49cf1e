/**
 * Bootstrap that is tried again within a deadline, what each failure means, and a sequence that starts a workload at most
 * once.
 *
 * @packageDocumentation
 */
export type { AttemptContext } from "./attempt.js";
export type { AttemptFailure } from "./attempt-failure.js";
export {
  exponentialBackoff,
  type Backoff,
  type BackoffContext,
  type ExponentialBackoff,
  type ExponentialBackoffOptions,
  type Jitter,
} from "./backoff.js";
export {
  BootstrapRetrier,
  retryBootstrap,
  type BootstrapOperation,
} from "./bootstrap-retrier.js";
export * from "./classify/index.js";
export {
  BootstrapDeadlineError,
  BootstrapError,
  BootstrapExhaustedError,
  BootstrapPermanentError,
  type DeadlineErrorDetail,
} from "./errors.js";
export { parsePushback, parseRetryAfter } from "./hints.js";
export { MarkedError, permanent, transient, type MarkOptions, type TransientMarkOptions } from "./marks.js";
export type { BootstrapRetrierOptions, RefreshContext, RetryDeadline, SuspectBudget } from "./options.js";
export type { Random } from "./random.js";
export type { RetrierEvents } from "./run-events.js";
export * from "./sequence/index.js";
export { decodeRetrySnapshot, type RetrySnapshot, type RetryState, type StoredFailure } from "./snapshot.js";
export type { RetryStatus } from "./status.js";
export type { Classification, ClassifyContext, Classifier, FailureKind, Verdict } from "./verdict.js";
