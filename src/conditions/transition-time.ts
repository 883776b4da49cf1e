/**
 * An instant as conditions carry it: RFC 3339 in UTC, cut to whole seconds, so that a value that was written and
 * read back still equals itself.
 *
 * @param at - Epoch milliseconds, a safe integer.
 *
 * @internal
 */
export function transitionTime(at: number): string {
  return `${new Date(Math.floor(at / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}
