import type { PhasedDeadlineOptions } from "./live-options.js";

/**
 * What a live deadline keeps of its options for later.
 *
 * @internal
 */
export interface LiveSettings {
  readonly progressEveryMs: number;
  /** Whether the passing of time is recorded. */
  readonly observes: boolean;
  readonly onError: ((error: unknown) => void) | undefined;
}

const USUAL: LiveSettings = { progressEveryMs: 1000, observes: false, onError: undefined };

/**
 * One object for all who leave it at the defaults, so that a live deadline keeps neither one of its own nor what it was
 * started with.
 *
 * @internal
 */
export function liveSettings(options: PhasedDeadlineOptions): LiveSettings {
  const { progressEveryMs = USUAL.progressEveryMs, onError } = options;
  const observes = options.observe ?? options.commit !== undefined;
  return observes || onError || progressEveryMs !== USUAL.progressEveryMs
    ? { progressEveryMs, observes, onError }
    : USUAL;
}
