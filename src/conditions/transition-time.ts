/** The last whole second that RFC 3339 can write: 9999-12-31T23:59:59Z. The first is year 0. */
const LAST_AT = 253_402_300_799_000;
const FIRST_AT = -62_167_219_200_000;

/**
 * An instant as conditions carry it: RFC 3339 in UTC, cut to whole seconds, so that a value that was written and
 * read back still equals itself. An instant beyond the four-digit years is held at their end.
 *
 * @param at - Epoch milliseconds.
 *
 * @public
 */
export function transitionTime(at: number): string {
  const held = Math.min(Math.max(Math.floor(at / 1000) * 1000, FIRST_AT), LAST_AT);
  return `${new Date(held).toISOString().slice(0, 19)}Z`;
}
