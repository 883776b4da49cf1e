import { systemClock, type Clock } from "slipway";
import {
  BootstrapDeadlineError,
  BootstrapPermanentError,
  BootstrapRetrier,
  classify,
  exponentialBackoff,
  type Classifier,
  type RetryDeadline,
} from "slipway/retry";
import { messageOf, type Log } from "../gateway/log.js";
import { StoreAwayError } from "../store/store-away.js";

/** Waits for what the store says may come by itself: a mistake of whoever starts the gateway is said at once. */
const startRules: Classifier = (error, context) => {
  if (!(error instanceof StoreAwayError)) return { ...classify(error, context), verdict: "permanent" };
  const { code } = classify(error.cause, context);
  const explanation = `The store is away, or restarts: ${error.message}`;
  return { verdict: "transient", kind: "network", code, explanation };
};

const backoff = exponentialBackoff({ initialMs: 200, factor: 2, capMs: 5000, jitter: "full" });
/** Coming up over many records takes as long as it takes. */
const ANY_TIME_MS = 10 * 365 * 24 * 3_600_000;

/** What fails so soon after an answer has waited for another one: the longest that a store may take for one. */
const ONE_ANSWER_MS = 30_000;

/** What is waited, and not what is worked: from each time that the store was found away to its next answer. */
class Patience implements RetryDeadline {
  /** The time that is left says it all. */
  readonly signal = new AbortController().signal;
  readonly #clock: Clock;
  #leftMs: number;
  #since: number | null = null;
  #answeredAt: number | null = null;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#leftMs = limitMs;
  }

  remainingMs(): number {
    if (this.#since === null) return Number.POSITIVE_INFINITY;
    return this.#leftMs - (this.#clock.now() - this.#since);
  }

  foundAway(): void {
    const now = this.#clock.now();
    if (this.#answeredAt !== null) this.#leftMs -= Math.min(now - this.#answeredAt, ONE_ANSWER_MS);
    this.#answeredAt = null;
    this.#since ??= now;
  }

  answered(): void {
    if (this.#since === null) return;
    this.#leftMs = this.remainingMs();
    this.#since = null;
    this.#answeredAt = this.#clock.now();
  }
}

export interface StartAttempt {
  /**
   * To be called as soon as the store answers: what follows is work, which nothing limits.
   *
   * @throws when the start was given up meanwhile: nothing may follow
   */
  readonly onAnswer: () => void;
}

export interface StartLimits {
  /** How long a store that is away is waited for in all, milliseconds. */
  readonly limitMs: number;
  readonly log: Log;
  readonly clock?: Clock | undefined;
}

/**
 * Starts a gateway, and waits for a store that comes up at the same time. `start` leaves nothing when it fails. Given
 * up is only what waits for the store's first answer, so that no gateway comes up that nobody waits for any more.
 *
 * @throws what the last start failed with
 */
export async function startPatiently<Started>(
  start: (attempt: StartAttempt) => Promise<Started>,
  { limitMs, log, clock = systemClock }: StartLimits,
): Promise<Started> {
  const patience = new Patience(clock, limitMs);
  const retrier = new BootstrapRetrier({
    clock,
    backoff,
    deadline: patience,
    classify: startRules,
    attemptTimeoutMs: ANY_TIME_MS,
  });
  retrier.on("waiting", () => log("start-waits", { why: retrier.status().sentence }));
  try {
    return await retrier.run(async ({ signal }) => {
      const onAnswer = (): void => {
        signal.throwIfAborted();
        patience.answered();
      };
      try {
        return await start({ onAnswer });
      } catch (error) {
        if (error instanceof StoreAwayError) patience.foundAway();
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof BootstrapPermanentError) throw error.cause;
    if (error instanceof BootstrapDeadlineError && error.cause instanceof Error)
      throw new Error(`not started within ${limitMs} ms: ${messageOf(error.cause)}`, { cause: error.cause });
    throw error;
  }
}
