import { invalid } from "../errors.js";
import { LAST_INSTANT } from "./limits.js";

/**
 * An instant moved by a duration, held where time ends. What is held there stays there, whatever it is moved by.
 *
 * @internal
 */
export function after(at: number, ms: number): number {
  return at >= LAST_INSTANT || at + ms >= LAST_INSTANT ? LAST_INSTANT : at + ms;
}

/**
 * Adding 0 turns a negative zero, which JSON cannot carry, into a plain one.
 *
 * @internal
 */
export function plain(count: number): number {
  return count + 0;
}

/**
 * @throws {@link SlipwayError} `INVALID_INSTANT` when the value is no integer of epoch milliseconds before the last instant.
 *
 * @internal
 */
export function checkInstant(field: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || Math.abs(value as number) >= LAST_INSTANT) {
    throw invalid("INVALID_INSTANT", "instant", field, "a safe integer of epoch milliseconds", value);
  }
}
