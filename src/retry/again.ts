/**
 * A run, as the loop's hook needs it, and all that the loop hears of a failure after which it goes on: whose it was. What
 * was thrown is none of its business. The loop wants an error: a run is one by its prototype only, because a stack, or
 * another object, would be kept for every run that waits.
 */
export interface Pausing {
  /** Waits for the next attempt; rejects when there is none. */
  pause(): Promise<void>;
}

const always = (): boolean => true;

/**
 * p-retry's options, for every run the same. All of them, though most at values that do nothing: p-retry adds what is
 * left out to each run's own copy, with functions made anew, and the host then keeps a shape for every run. Not
 * frozen, because copying a frozen object takes the slow way as well.
 */
export const LOOP_OPTIONS = {
  retries: Number.POSITIVE_INFINITY,
  minTimeout: 0,
  maxTimeout: 0,
  maxRetryTime: Number.POSITIVE_INFINITY,
  factor: 1,
  randomize: false,
  onFailedAttempt: ({ error }: { readonly error: unknown }): Promise<void> => (error as Pausing).pause(),
  shouldRetry: always,
  shouldConsumeRetry: always,
};
