import type { Clock } from "../clock/index.js";
import { callHook, reportTo } from "../events/hook.js";
import { hasMethod, invalid, kindOf, show } from "../errors.js";
import type { ObservationSource, RecordStore } from "./ports.js";
import type { ReconcileOutcome } from "./reconcile-outcome.js";
import type { PhasePolicy, SandboxRecord, Session } from "./record.js";

/**
 * What a reconciler works with.
 *
 * @public
 */
export interface ReconcilerOptions {
  /** Where the records are kept. */
  readonly store: RecordStore;
  /** How the backend is seen. */
  readonly source: ObservationSource;
  /** What time it is, and what waits. Replicas that share a store need clocks that agree. */
  readonly clock: Clock;
  /** The supervisor's session of a sandbox. Default: none. */
  readonly session?: ((id: string) => Session | null) | undefined;
  /** What this gateway has decided once. Default: every field's own. */
  readonly policy?: PhasePolicy | undefined;
  /** Whether the isolation backend that a sandbox is pinned to is the one selected. `null`: no pin known. Default: none. */
  readonly backendMatches?: ((id: string, record: SandboxRecord) => boolean | null) | undefined;
  /** How long a record outlives its compute object, counted from the entry into its phase. Default 300 000 ms. */
  readonly graceMs?: number | undefined;
  /** Time between two sweeps. Default 60 000 ms. */
  readonly sweepEveryMs?: number | undefined;
  /** Looks at once. Default 16. */
  readonly concurrency?: number | undefined;
  /** First wait after a backend failed; it doubles up to the cap. Default 2000 ms. */
  readonly retryInitialMs?: number | undefined;
  /** Longest wait after a backend failed. Default 30 000 ms. */
  readonly retryCapMs?: number | undefined;
  /** Told of every outcome but `unchanged`, for logs and events; a look of a sweep that failed is one. */
  readonly onOutcome?: ((outcome: ReconcileOutcome) => void) | undefined;
  /**
   * Told what a sweep or a watch of the loop failed with, or a look that news led to, which are tried again, and what
   * `onOutcome` threw. Default: `console.error`.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** @internal */
export interface ResolvedReconcilerOptions {
  readonly store: RecordStore;
  readonly source: ObservationSource;
  readonly clock: Clock;
  readonly session: (id: string) => Session | null;
  readonly policy: PhasePolicy;
  readonly backendMatches: (id: string, record: SandboxRecord) => boolean | null;
  readonly graceMs: number;
  readonly sweepEveryMs: number;
  readonly concurrency: number;
  readonly retryInitialMs: number;
  readonly retryCapMs: number;
  readonly report: (outcome: ReconcileOutcome) => void;
  readonly failed: (error: unknown) => void;
}

/** OpenShell's orphan grace and sweep interval. */
const DEFAULTS = Object.freeze({
  graceMs: 300_000,
  sweepEveryMs: 60_000,
  concurrency: 16,
  retryInitialMs: 2000,
  retryCapMs: 30_000,
});

const none = (): null => null;

/** @internal */
export function resolveOptions(options: ReconcilerOptions): ResolvedReconcilerOptions {
  if (typeof options !== "object" || (options as unknown) === null) throw wrong("", "an object", options);
  for (const field of ["store", "source", "clock"] as const) {
    // What every look needs: a stand-in need not have more.
    const method = field === "clock" ? "now" : "get";
    if (!hasMethod(options[field], method)) throw wrong(field, `an object with ${method}()`, options[field]);
  }
  for (const field of ["session", "backendMatches", "onOutcome", "onError"] as const) {
    const value: unknown = options[field] ?? none;
    if (typeof value !== "function") throw wrong(field, "a function", value);
  }
  const onOutcome = options.onOutcome ?? undefined;
  const { onError } = options;
  return {
    store: options.store,
    source: options.source,
    clock: options.clock,
    session: options.session ?? none,
    policy: options.policy ?? {},
    backendMatches: options.backendMatches ?? none,
    graceMs: integer(options, "graceMs", 0),
    sweepEveryMs: integer(options, "sweepEveryMs", 1),
    concurrency: integer(options, "concurrency", 1),
    retryInitialMs: integer(options, "retryInitialMs", 1),
    retryCapMs: integer(options, "retryCapMs", 1),
    report: (outcome) => callHook(onOutcome, outcome, onError),
    failed: (error) => reportTo(onError, error),
  };
}

function integer(options: ReconcilerOptions, field: keyof typeof DEFAULTS, least: number): number {
  const value = options[field] ?? DEFAULTS[field];
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw wrong(field, `an integer, ${least} or more`, value, show(value));
}

function wrong(field: string, expected: string, value: unknown, shown = kindOf(value)): Error {
  return invalid("INVALID_OPTION", "reconciler options", field, expected, value, shown);
}
