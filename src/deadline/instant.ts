import { invalid } from "../errors.js";

/**
 * An instant moved by a duration, held within the safe integers: a plan may allow more time than numbers can count.
 *
 * @internal
 */
export function after(at: number, ms: number): number {
  const sum = at + ms;
  return sum < Number.MAX_SAFE_INTEGER ? sum : Number.MAX_SAFE_INTEGER;
}

/**
 * @throws {@link SlipwayError} `INVALID_INSTANT` when the value is not a safe integer of epoch milliseconds.
 *
 * @internal
 */
export function checkInstant(field: string, value: unknown): void {
  if (!Number.isSafeInteger(value)) {
    throw invalid("INVALID_INSTANT", "instant", field, "a safe integer of epoch milliseconds", value);
  }
}
