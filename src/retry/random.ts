/**
 * The port through which chance comes in: each call gives a number from 0 (inclusive) to 1 (exclusive).
 *
 * @public
 */
export type Random = () => number;

/** Numbers drawn from the host at once: one call for many draws costs a fifteenth of a call for each. */
const BLOCK = 64;

const block = new Uint32Array(BLOCK);
let left = 0;

/** The host's own source. Retriers that start in the same instant on many machines must not draw alike. */
export const hostRandom: Random = () => {
  if (left === 0) {
    crypto.getRandomValues(block);
    left = BLOCK;
  }
  left -= 1;
  return (block[left] ?? 0) / 2 ** 32;
};

/** A draw that is usable whatever an injected source answers. */
export function draw(random: Random): number {
  const value = random();
  if (value >= 1) return 1 - Number.EPSILON;
  return value > 0 ? value : 0;
}
