/** How often something may happen: so many times a second in the long run, and so many times at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

const MOST_KEYS = 10_000;
/** Fractions of a token do not add up to exactly one. */
const NEARLY = 1e-9;

/**
 * One token bucket for each key, in a table of bounded size: of too many keys those that were idle longest are
 * forgotten, which only fills their buckets.
 */
export class TokenBuckets {
  readonly #rate: Rate;
  readonly #mostKeys: number;
  /** The most recently used last. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, mostKeys = MOST_KEYS) {
    this.#rate = rate;
    this.#mostKeys = mostKeys;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token, and answers 0; or takes none, and answers how many milliseconds there will be none. */
  take(key: string, now: number): number {
    const { perSecond, burst } = this.#rate;
    const found = this.#buckets.get(key) ?? { tokens: burst, at: now };
    // A clock that went back earns nothing.
    const earned = (Math.max(now - found.at, 0) / 1000) * perSecond;
    const tokens = Math.min(found.tokens + earned, burst);
    const isGranted = tokens >= 1 - NEARLY;
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: isGranted ? Math.max(tokens - 1, 0) : tokens, at: now });
    const [idlest] = this.#buckets.keys();
    if (this.#buckets.size > this.#mostKeys && idlest !== undefined) this.#buckets.delete(idlest);
    return isGranted ? 0 : Math.max(Math.ceil(((1 - NEARLY - tokens) / perSecond) * 1000), 1);
  }
}
