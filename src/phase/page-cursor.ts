import { invalid } from "../errors.js";

/**
 * The cursor that the next page is asked for with, `null` after the last one. Refuses one with which a listing would not
 * come to its end: none at all, and the one that was asked with.
 *
 * @param field - The port's method, for the error.
 * @throws SlipwayError `INVALID_OPTION` naming the method and the cursor.
 *
 * @internal
 */
export function nextCursor(
  field: string,
  asked: string | null,
  { cursor }: { readonly cursor: unknown },
): string | null {
  if (cursor === null || (typeof cursor === "string" && cursor !== asked)) return cursor;
  const expected = "null on the last page, else a text other than that of the page before";
  throw invalid("INVALID_OPTION", "reconciler", `${field} cursor`, expected, cursor);
}
