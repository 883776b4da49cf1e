import type { Clock } from "slipway";
import { exponentialBackoff, type Backoff } from "slipway/retry";
import { ApiUnreachableError } from "./api-error.js";
import { onAbort } from "./on-abort.js";

export interface PaceOptions {
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
  /** Requests under way at once. */
  readonly maxInFlight?: number | undefined;
  /** How long a request may wait for its turn before it is given up. */
  readonly patienceMs?: number | undefined;
  readonly backoff?: Backoff | undefined;
}

interface Waiter {
  readonly enter: () => void;
}

const MAX_IN_FLIGHT = 32;
const PATIENCE_MS = 20_000;
/** Longest wait that a server is granted: a mistaken answer must not keep a gateway silent for a day. */
const LONGEST_ASKED_MS = 300_000;

/**
 * Lets requests through: many at once while the server answers, one at a time after waits that grow while it does
 * not, so that a server that comes back meets one request and not everybody's. A server that names a time
 * (`Retry-After`) is not asked before, up to five minutes.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #random: (() => number) | undefined;
  readonly #most: number;
  readonly #patienceMs: number;
  readonly #backoff: Backoff;
  readonly #waiting = new Set<Waiter>();
  #inFlight = 0;
  #failures = 0;
  #notBefore = 0;
  #alarm: Disposable | null = null;

  constructor(options: PaceOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#most = options.maxInFlight ?? MAX_IN_FLIGHT;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#backoff =
      options.backoff ?? exponentialBackoff({ initialMs: 200, factor: 2, capMs: 30_000, jitter: "equal" });
  }

  /**
   * Resolves when a request may be sent. `leave` must be called once it has ended.
   *
   * @throws ApiUnreachableError when its turn did not come in time; the signal's reason when it aborts.
   */
  enter(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#waiting.size === 0 && this.#isOpen()) {
      this.#inFlight += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#waiting.delete(waiter);
        limit[Symbol.dispose]();
        aborted[Symbol.dispose]();
      };
      const waiter: Waiter = {
        enter: () => {
          settle();
          this.#inFlight += 1;
          resolve();
        },
      };
      const aborted = onAbort(signal, () => {
        settle();
        reject(signal.reason as Error);
      });
      const limit = this.#clock.schedule(this.#clock.now() + this.#patienceMs, () => {
        settle();
        reject(
          new ApiUnreachableError(`The API server does not keep up: ${this.#failures} failures in a row`),
        );
      });
      this.#waiting.add(waiter);
      this.#arm();
    });
  }

  /** The request of one `enter` has ended. */
  leave(): void {
    this.#inFlight -= 1;
    this.#let();
  }

  succeeded(): void {
    this.#failures = 0;
    this.#let();
  }

  /** The server could not take a request; `retryAfterMs` is what it asked for. */
  failed(retryAfterMs: number | null): void {
    const now = this.#clock.now();
    // Requests that were under way together fail together, and count once.
    if (this.#failures === 0 || now >= this.#notBefore) this.#failures += 1;
    const asked = Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS);
    const wait = Math.max(this.#backoff.delayMs(this.#failures, { random: this.#random }), asked);
    this.#notBefore = Math.max(this.#notBefore, now + wait);
  }

  #isOpen(): boolean {
    return this.#clock.now() >= this.#notBefore && this.#inFlight < (this.#failures > 0 ? 1 : this.#most);
  }

  #let(): void {
    for (const waiter of this.#waiting) {
      if (!this.#isOpen()) break;
      waiter.enter();
    }
    this.#arm();
  }

  /** One alarm for all who wait. */
  #arm(): void {
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = null;
    const now = this.#clock.now();
    if (this.#waiting.size === 0 || now >= this.#notBefore) return;
    this.#alarm = this.#clock.schedule(this.#notBefore, () => {
      this.#alarm = null;
      this.#let();
    });
  }
}
