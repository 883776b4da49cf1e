import { invalid, kindOf, show } from "../errors.js";
import { isFields } from "./classify/inspect.js";
import { draw, hostRandom, type Random } from "./random.js";

/**
 * How a wait is spread, so that many clients of one gateway do not come back in the same instant:
 *
 * - `full`: anything from 0 to the plain wait;
 * - `equal`: from half of the plain wait to all of it;
 * - `decorrelated`: from `initialMs` to three times the previous wait;
 * - `none`: the plain wait.
 *
 * The cap holds after the spreading, and the spreading holds at the cap.
 *
 * @public
 */
export type Jitter = "full" | "equal" | "decorrelated" | "none";

/**
 * How {@link exponentialBackoff} waits. Every field is optional.
 *
 * @public
 */
export interface ExponentialBackoffOptions {
  /** Wait after the first failure, before jitter. A positive integer. Default 1000. */
  readonly initialMs?: number | undefined;
  /** Growth from one failure to the next, at least 1. Default 2. */
  readonly factor?: number | undefined;
  /** Longest wait, after jitter. A positive integer, not below `initialMs`. Default 30 000. */
  readonly capMs?: number | undefined;
  /** Default `full`. */
  readonly jitter?: Jitter | undefined;
}

/** What a wait may depend on besides the number of failures. */
export interface BackoffContext {
  /** The wait that was used before this one; absent before the first. */
  readonly previousMs?: number | undefined;
  /** Source of chance. Default: the host's. */
  readonly random?: Random | undefined;
}

/**
 * A rule for waits: a value without state, so that one may serve any number of retriers.
 *
 * @public
 */
export interface Backoff {
  /** The wait in integer milliseconds after `failures` failures in a row (1 after the first). Total and pure. */
  delayMs(failures: number, context?: BackoffContext): number;
  /** The longest wait it gives, where there is one. */
  readonly capMs?: number | undefined;
}

/** A {@link Backoff} that grows by a factor up to a cap. */
export interface ExponentialBackoff extends Backoff {
  /** See {@link ExponentialBackoffOptions.initialMs}. */
  readonly initialMs: number;
  /** See {@link ExponentialBackoffOptions.factor}. */
  readonly factor: number;
  /** See {@link ExponentialBackoffOptions.capMs}. */
  readonly capMs: number;
  /** See {@link ExponentialBackoffOptions.jitter}. */
  readonly jitter: Jitter;
  /** The wait before jitter: never falls as `failures` grows, never exceeds `capMs`. */
  plainMs(failures: number): number;
}

const JITTERS: readonly Jitter[] = ["full", "equal", "decorrelated", "none"];

/**
 * Waits that grow by a factor from `initialMs` to `capMs`, at any number of failures.
 *
 * @throws {@link SlipwayError} `INVALID_OPTION` when a number is out of range.
 *
 * @example
 * ```ts
 * import { exponentialBackoff } from "slipway/retry";
 *
 * const backoff = exponentialBackoff({ initialMs: 1000, factor: 2, capMs: 30_000, jitter: "none" });
 * [1, 2, 3, 6, 5000].map((failures) => backoff.delayMs(failures)); // => [1000, 2000, 4000, 30_000, 30_000]
 * ```
 *
 * @public
 */
export function exponentialBackoff(options: ExponentialBackoffOptions = {}): ExponentialBackoff {
  if (!isFields(options)) throw wrong("options", "an object", options, kindOf(options));
  const { initialMs = 1000, factor = 2, jitter = "full" } = options;
  requireDuration("initialMs", initialMs);
  const { capMs = Math.max(30_000, initialMs) } = options;
  requireDuration("capMs", capMs);
  if (capMs < initialMs) throw wrong("capMs", `at least initialMs (${initialMs})`, capMs);
  if (!Number.isFinite(factor) || factor < 1) throw wrong("factor", "a finite number, 1 or more", factor);
  if (!JITTERS.includes(jitter)) throw wrong("jitter", JITTERS.join(", "), jitter);
  return Object.freeze(new Exponential(initialMs, factor, capMs, jitter));
}

class Exponential implements ExponentialBackoff {
  readonly initialMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly jitter: Jitter;

  constructor(initialMs: number, factor: number, capMs: number, jitter: Jitter) {
    this.initialMs = initialMs;
    this.factor = factor;
    this.capMs = capMs;
    this.jitter = jitter;
  }

  plainMs(failures: number): number {
    // An overflowing power is Infinity, which the cap takes; NaN cannot come up with a factor of 1 or more.
    const grown = this.initialMs * this.factor ** Math.max(failures - 1, 0);
    return grown < this.capMs ? Math.round(grown) : this.capMs;
  }

  delayMs(failures: number, context: BackoffContext = {}): number {
    if (this.jitter === "none") return this.plainMs(failures);
    const chance = draw(context.random ?? hostRandom);
    if (this.jitter === "decorrelated") return this.#decorrelated(context.previousMs, chance);
    const plain = this.plainMs(failures);
    const least = this.jitter === "equal" ? Math.ceil(plain / 2) : 0;
    return between(least, plain, chance);
  }

  #decorrelated(previousMs: number | undefined, chance: number): number {
    const previous = previousMs !== undefined && previousMs > this.initialMs ? previousMs : this.initialMs;
    return between(this.initialMs, Math.min(Math.round(previous * 3), this.capMs), chance);
  }
}

/** An integer from `least` to `most`, both included. */
function between(least: number, most: number, chance: number): number {
  return Math.min(least + Math.floor(chance * (most - least + 1)), most);
}

function requireDuration(field: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) throw wrong(field, "a positive safe integer", value);
}

function wrong(field: string, expected: string, value: unknown, shown = show(value)): Error {
  return invalid("INVALID_OPTION", "backoff", field, expected, value, shown);
}
