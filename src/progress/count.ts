/** A finite number, 0 or more: what positions and totals have to be. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_VALUE;
}

/** A sum of counts. Past the largest number there is it stays there, so that it is a count as well. */
export function plus(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_VALUE);
}
