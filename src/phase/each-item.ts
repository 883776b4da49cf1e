import { invalid } from "../errors.js";
import type { Page } from "./ports.js";

/**
 * Takes what a listing has, page by page, from the first to the last. Refuses a cursor with which it would not come to
 * its end: none at all, and one that a page was asked for with before.
 *
 * @param field - The port's method, for the error.
 * @throws SlipwayError `INVALID_OPTION` naming the method and the cursor.
 *
 * @internal
 */
export async function eachItem<Item>(
  field: string,
  list: (cursor: string | null) => Promise<Page<Item>>,
  take: (item: Item) => void,
): Promise<void> {
  const asked = new Set<unknown>();
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await list(cursor);
    page.items.forEach(take);
    asked.add(cursor);
    cursor = page.cursor;
    if (cursor !== null && (typeof cursor !== "string" || asked.has(cursor)))
      throw invalid(
        "INVALID_OPTION",
        "reconciler",
        `${field} cursor`,
        "null on the last page, else a new text",
        cursor,
      );
  } while (cursor !== null);
}
