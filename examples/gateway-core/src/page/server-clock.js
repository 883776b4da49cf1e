// @ts-check

/**
 * The gateway's time, told by this machine's steady clock: deadlines are the gateway's, and the two machines' clocks
 * need not agree.
 */
export class ServerClock {
  /** @type {() => number} */
  #steady;
  /** @type {number} */
  #offset;
  #uncertainty = Number.POSITIVE_INFINITY;
  #measuredAt = Number.NEGATIVE_INFINITY;

  /**
   * @param {() => number} steady milliseconds that never go back, such as `performance.now`
   * @param {number} guess the time to show before the first answer
   */
  constructor(steady, guess) {
    this.#steady = steady;
    this.#offset = guess - steady();
  }

  now() {
    return this.#steady() + this.#offset;
  }

  /**
   * Takes in an answer. It was made somewhere between asking and hearing, so the middle is off by half of that at
   * most; a worse measurement than the last is passed over while that one is fresh and both agree.
   *
   * @param {number} serverNow
   * @param {number} askedAt
   * @param {number} heardAt
   */
  measure(serverNow, askedAt, heardAt) {
    const uncertainty = (heardAt - askedAt) / 2;
    const offset = serverNow - (askedAt + heardAt) / 2;
    const agree = Math.abs(offset - this.#offset) <= uncertainty + this.#uncertainty;
    const fresh = heardAt - this.#measuredAt < FRESH_MS;
    if (agree && fresh && uncertainty > this.#uncertainty) return;
    this.#offset = offset;
    this.#uncertainty = uncertainty;
    this.#measuredAt = heardAt;
  }
}

/** Two steady clocks drift apart by some milliseconds in so long. */
const FRESH_MS = 5 * 60_000;
