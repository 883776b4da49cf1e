import { transientEntry } from "./entry.js";
import { failureText, type Classification, type ClassifyContext } from "../verdict.js";
import { Walk } from "./walk.js";

const cancelled: Classification = Object.freeze({
  verdict: "cancelled",
  code: "CANCELLED",
  explanation: "The caller's signal is aborted",
  kind: "cancellation",
});

const timedOut: Classification = Object.freeze({
  ...transientEntry("timeout", "The attempt took longer than one attempt may"),
  code: "ATTEMPT_TIMEOUT",
});

/**
 * The default rules: what a failure means for a bootstrap, and why. Total: takes anything that can be thrown.
 *
 * In order: an aborted caller is a cancellation, whatever the error; the attempt's own time limit is transient; a
 * mark ({@link permanent}, {@link transient}) holds; then the error, its causes (ten links) and the members of
 * aggregates are looked up in the tables. Within a chain the most specific permanent finding wins, so a certificate
 * failure inside "fetch failed" or inside a gRPC UNAVAILABLE is seen; of several addresses all must be permanent. An
 * error of the program itself is permanent, and what no rule knows is suspect.
 *
 * @example
 * ```ts
 * import { classify } from "slipway/retry";
 *
 * const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" });
 * [classify(refused).verdict, classify(new Error("boom")).verdict]; // => ["transient", "suspect"]
 * ```
 *
 * @public
 */
export function classify(error: unknown, context: ClassifyContext = {}): Classification {
  if (context.signal?.aborted === true) return cancelled;
  if (context.timedOut === true) return timedOut;
  const { verdict, code, explanation, kind, retryAfterMs, pushbackMs } = new Walk(context.now).find(error);
  return {
    verdict,
    code: failureText(code),
    explanation: failureText(explanation),
    kind,
    ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
    ...(pushbackMs === undefined ? undefined : { pushbackMs }),
  };
}
