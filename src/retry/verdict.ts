import { clip } from "../errors.js";

/**
 * What a failure means for a bootstrap:
 *
 * - `transient`: may pass by itself; retried until the deadline;
 * - `permanent`: will not; reported at once;
 * - `suspect`: may be either; retried within a small budget of its own, then reported as permanent;
 * - `cancelled`: the caller gave up.
 *
 * @public
 */
export type Verdict = "transient" | "permanent" | "suspect" | "cancelled";

/**
 * What a failure is about. `authentication` is the one that a refresh of credentials may heal.
 *
 * @public
 */
export type FailureKind =
  | "network"
  | "name"
  | "timeout"
  | "tls"
  | "authentication"
  | "authorization"
  | "configuration"
  | "resource"
  | "server"
  | "program"
  | "cancellation"
  | "unknown";

/**
 * A verdict with what it rests on.
 *
 * @public
 */
export interface Classification {
  /** What the failure means. */
  readonly verdict: Verdict;
  /** The code that decided: a Node, TLS or gRPC code, `HTTP_503`, or the name of the error. */
  readonly code: string;
  /** Why the code has this verdict, and what the subtle part is. For people. */
  readonly explanation: string;
  /** What the failure is about. Absent counts as `unknown`. */
  readonly kind?: FailureKind | undefined;
  /** The peer asks not to be tried sooner: a floor for the wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The peer names the wait (gRPC pushback): replaces it and restarts the backoff. Milliseconds. */
  readonly pushbackMs?: number | undefined;
}

/**
 * What a classifier may look at besides the error.
 *
 * @public
 */
export interface ClassifyContext {
  /** The caller's signal. Once it is aborted, every failure is a cancellation. */
  readonly signal?: AbortSignal | undefined;
  /** The attempt ran into its own time limit. */
  readonly timedOut?: boolean | undefined;
  /** Epoch milliseconds, for hints that are given as a date. */
  readonly now?: number | undefined;
}

/**
 * An embedder's own rules. `undefined` leaves the decision to the default ones; fields that are left out are taken
 * from them.
 *
 * @public
 */
export type Classifier = (
  error: unknown,
  context: ClassifyContext,
) => (Partial<Classification> & Pick<Classification, "verdict">) | undefined;

/** Longest text of a failure, in UTF-16 units: histories hold many, and a peer decides what is in them. */
const TEXT_LENGTH = 500;

/** A text of a failure as it is kept. */
export function failureText(text: string): string {
  return clip(text, TEXT_LENGTH);
}

const VERDICTS: readonly unknown[] = ["transient", "permanent", "suspect", "cancelled"] satisfies Verdict[];

export function isVerdict(value: unknown): value is Verdict {
  return VERDICTS.includes(value);
}
