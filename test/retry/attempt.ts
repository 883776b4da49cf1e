import { BootstrapPermanentError, BootstrapRetrier, type AttemptFailure } from "../../src/retry/index.js";

/** What one real attempt failed with, as the retrier classified it. */
export async function failureOf(
  operation: (signal: AbortSignal) => unknown,
  attemptTimeoutMs = 5000,
): Promise<AttemptFailure> {
  const retrier = new BootstrapRetrier({ maxAttempts: 1, attemptTimeoutMs });
  const value: unknown = await retrier
    .run(({ signal }) => operation(signal))
    .catch((error: unknown) => error);
  const failure = retrier.status().lastError;
  if (failure === null) throw new Error("The attempt did not fail", { cause: value });
  const isPermanent = value instanceof BootstrapPermanentError;
  if (isPermanent !== (failure.verdict === "permanent"))
    throw new Error("Verdict and error differ", { cause: value });
  return failure;
}
