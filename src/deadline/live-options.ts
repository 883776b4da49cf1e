import type { Clock, TimerQueue } from "../clock/index.js";
import type { StartAttemptOptions } from "./start.js";
import type { DeadlineState } from "./state.js";

/**
 * What the store answered to a commit: taken, or beaten by another writer, with the state that it holds now (`null`
 * when the record is gone).
 *
 * @public
 */
export type CommitResult =
  | {
      /** The state is stored. */
      readonly committed: true;
    }
  | {
      /** Another writer was there before. */
      readonly committed: false;
      /** What is stored now, `null` when the record is gone. */
      readonly current: DeadlineState | null;
    };

/**
 * Writes a state under compare-and-swap on the version that is stored. It may answer at once or later; an error
 * means that the store was not reached, and nothing is known. It must settle: give it a time limit of its own, for
 * no decision is final, not even an expiry, while one is under way.
 *
 * @public
 */
export type Commit = (
  next: DeadlineState,
  expectedVersion: number,
) => CommitResult | PromiseLike<CommitResult>;

/**
 * How a live deadline runs.
 *
 * @public
 */
export interface PhasedDeadlineOptions {
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Queue to wait in. Default: one shared by all deadlines on the same clock. */
  readonly timers?: TimerQueue | undefined;
  /** Let the process exit although the deadline is pending. Default `false`. Ignored with `timers`. */
  readonly unref?: boolean | undefined;
  /**
   * Makes every change final only once it is stored. Without it the caller persists on `change` events.
   */
  readonly commit?: Commit | undefined;
  /**
   * Record the passing of time every `plan.observeEveryMs`, so that a clock set back across a restart gains no more
   * than that. Default: with `commit`. Turn it on when persisting on `change` events.
   */
  readonly observe?: boolean | undefined;
  /** Shortest time between two `change` events or commits that only carry progress. Default 1000. */
  readonly progressEveryMs?: number | undefined;
  /** Receives what a listener threw and what a background commit failed with. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Options of {@link PhasedDeadline.start}. @public */
export type PhasedDeadlineStartOptions = PhasedDeadlineOptions & Omit<StartAttemptOptions, "now">;

/** Options of {@link PhasedDeadline.restore}. @public */
export interface PhasedDeadlineRestoreOptions extends PhasedDeadlineOptions {
  /**
   * Whether the clock may have been set back since the state was stored, so that what was left is kept. Default
   * `true`. Replicas whose `now` comes from one store say `false`: for them it is an ordinary load, which clamps.
   */
  readonly rebase?: boolean | undefined;
}
