/** The unit of what counts bytes. Any other one is printed as it is called. */
export const BYTES = "bytes";

/** A finite number, 0 or more: what positions and totals have to be. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_VALUE;
}

/**
 * How many whole per cent of a total a position is, below 100. Multiplied first: as numbers 29 of 100 is 0.29, and a
 * hundred times that less than 29.
 */
export function percentage(position: number, total: number): number {
  const hundredfold = position * 100;
  const exact = hundredfold <= Number.MAX_VALUE ? hundredfold / total : (position / total) * 100;
  return Math.min(Math.floor(exact), 99);
}

/** A sum of counts. Past the largest number there is it stays there, so that it is a count as well. */
export function plus(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_VALUE);
}
