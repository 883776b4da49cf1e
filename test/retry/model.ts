/** What one attempt comes to: a value, or a failure of one of the kinds that are treated differently. */
export interface Scripted {
  readonly kind: "value" | "transient" | "suspect" | "permanent" | "authentication" | "hangs";
  /** How long it takes, unless it hangs. */
  readonly tookMs: number;
  /** `Retry-After`, on a transient failure. */
  readonly hintMs?: number;
  /** gRPC pushback, on a transient failure. */
  readonly pushbackMs?: number;
}

/** The limits of a run, as `BootstrapRetrier` takes them, without jitter. */
export interface Limits {
  readonly initialMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly attemptTimeoutMs: number;
  readonly hintCapMs: number;
  readonly maxAttempts: number;
  readonly totalMs: number;
  readonly suspect: { readonly attempts: number; readonly forMs: number };
  readonly refreshes: boolean;
}

/** When attempts began, and how and when the run ended; times since its start. */
export interface Course {
  readonly starts: readonly number[];
  readonly outcome: "succeeded" | "permanent" | "exhausted" | "deadline" | "goes on";
  readonly endedAt: number;
}

/** A refresh that takes no time is followed by a macrotask, which is a millisecond of a timer. */
const MACROTASK_MS = 1;

/**
 * Section 5 of the design a second time, written from its text alone: the course of a run with these attempts.
 */
export function courseOf(script: readonly Scripted[], limits: Limits): Course {
  const { totalMs, suspect } = limits;
  const starts: number[] = [];
  let now = 0;
  let failures = 0;
  let suspects = 0;
  let suspectSince = 0;
  let refreshed = false;
  const end = (outcome: Course["outcome"], endedAt = now): Course => ({ starts, outcome, endedAt });

  for (const { kind, tookMs, hintMs, pushbackMs } of script) {
    if (now >= totalMs) return end("deadline", totalMs);
    starts.push(now);
    const took = kind === "hangs" ? limits.attemptTimeoutMs : tookMs;
    if (took > 0 && now + took >= totalMs) return end("deadline", totalMs);
    now += took;
    if (kind === "value") return end("succeeded");
    if (kind === "permanent") return end("permanent");
    if (kind === "authentication") {
      if (!limits.refreshes || refreshed || starts.length >= limits.maxAttempts) return end("permanent");
      refreshed = true;
      suspects = 0;
      now += MACROTASK_MS;
      continue;
    }
    if (kind === "suspect") {
      if (suspects === 0) suspectSince = now;
      suspects += 1;
      if (suspects >= suspect.attempts && now - suspectSince >= suspect.forMs) return end("permanent");
    } else suspects = 0;
    if (starts.length >= limits.maxAttempts) return end("exhausted");
    failures = pushbackMs === undefined ? failures + 1 : 0;
    const plain = Math.min(limits.capMs, limits.initialMs * limits.factor ** (failures - 1));
    const floor = Math.min(hintMs ?? 0, limits.hintCapMs);
    const wait = pushbackMs === undefined ? Math.max(plain, floor) : Math.min(pushbackMs, limits.hintCapMs);
    if (now + wait >= totalMs) return end("deadline");
    now += wait;
  }
  return end("goes on");
}
