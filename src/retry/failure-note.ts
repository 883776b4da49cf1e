import type { AttemptFailure } from "./attempt-failure.js";

/**
 * A failure as its run keeps it: what is there once for each of many that wait. Instants are told from the start of the
 * run, since a number as large as an instant is an object of its own to the host, and a hint is there only if one was
 * given.
 */
export interface FailureNote
  extends Pick<
    AttemptFailure,
    "attempt" | "verdict" | "code" | "kind" | "explanation" | "message" | "waitMs" | "error"
  > {
  /** From the start of the run to that of the attempt. */
  readonly afterMs: number;
  readonly tookMs: number;
  readonly hint?: Pick<AttemptFailure, "hintMs" | "hintClamped">;
}

/** The failure as it is told. */
export function failureOf(note: FailureNote, runStartedAt: number): AttemptFailure {
  const startedAt = runStartedAt + note.afterMs;
  return {
    attempt: note.attempt,
    startedAt,
    endedAt: startedAt + note.tookMs,
    verdict: note.verdict,
    code: note.code,
    kind: note.kind,
    explanation: note.explanation,
    message: note.message,
    waitMs: note.waitMs,
    hintMs: note.hint?.hintMs ?? null,
    hintClamped: note.hint?.hintClamped ?? false,
    error: note.error,
  };
}

/** What is kept of a failure. */
export function noteOf(failure: AttemptFailure, runStartedAt: number): FailureNote {
  const { hintMs, hintClamped } = failure;
  const note = {
    attempt: failure.attempt,
    afterMs: small(failure.startedAt - runStartedAt),
    tookMs: small(failure.endedAt - failure.startedAt),
    verdict: failure.verdict,
    code: failure.code,
    kind: failure.kind,
    explanation: failure.explanation,
    message: failure.message,
    waitMs: failure.waitMs,
    error: failure.error,
  };
  return hintMs === null ? note : { ...note, hint: { hintMs, hintClamped } };
}

/** The failure of an attempt that was ended from outside: nothing was thrown. */
export function cutOffFailure(
  facts: Pick<AttemptFailure, "attempt" | "startedAt" | "endedAt" | "verdict" | "code" | "explanation">,
): AttemptFailure {
  return {
    ...facts,
    kind: facts.verdict === "cancelled" ? "cancellation" : "unknown",
    message: facts.explanation,
    waitMs: null,
    hintMs: null,
    hintClamped: false,
    error: undefined,
  };
}

/** Differences of large numbers stay large ones to the host, whatever their value, until they are rounded. */
function small(wholeMs: number): number {
  return Math.round(wholeMs);
}
