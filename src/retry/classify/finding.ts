import type { TableEntry } from "./entry.js";

/** What one error of a chain tells by itself. */
export interface Finding extends TableEntry {
  readonly code: string;
  /** Rests on a name only, which anything may carry: gives way to every finding that rests on a code. */
  readonly weak: boolean;
  readonly retryAfterMs: number | undefined;
  readonly pushbackMs: number | undefined;
}

export interface Hints {
  readonly retryAfterMs?: number | undefined;
  readonly pushbackMs?: number | undefined;
}

export function strong(code: string, entry: TableEntry, hints: Hints = {}): Finding {
  return {
    verdict: entry.verdict,
    kind: entry.kind,
    explanation: entry.explanation,
    code,
    weak: false,
    retryAfterMs: hints.retryAfterMs,
    pushbackMs: hints.pushbackMs,
  };
}

export function weak(code: string, entry: TableEntry): Finding {
  return {
    verdict: entry.verdict,
    kind: entry.kind,
    explanation: entry.explanation,
    code,
    weak: true,
    retryAfterMs: undefined,
    pushbackMs: undefined,
  };
}
