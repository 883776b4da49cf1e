import { invalid } from "../errors.js";
import type { Random } from "../retry/index.js";

/**
 * Chance that is the same in every run: a small generator (mulberry32) from a seed.
 *
 * @example
 * ```ts
 * import { seededRandom } from "slipway/testing";
 *
 * seededRandom(1)() === seededRandom(1)(); // => true
 * ```
 *
 * @public
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Chance as a script: gives the numbers in order, and the last one from then on.
 *
 * @throws `SlipwayError` with code `INVALID_OPTION` for an empty script.
 *
 * @public
 */
export function scriptedRandom(values: readonly number[]): Random {
  if (values.length === 0)
    throw invalid("INVALID_OPTION", "scripted random", "values", "a number or more", values);
  let place = 0;
  return () => {
    const value = values[Math.min(place, values.length - 1)] ?? 0;
    place += 1;
    return value;
  };
}
