import { messageOf } from "../gateway/log.js";

/** The store is away, or restarts: what failed may succeed a moment later. `cause` is what the store failed with. */
export class StoreAwayError extends Error {
  override readonly name = "StoreAwayError";
}

/**
 * Work that asks a store for something, and nobody else: what fails there may come by itself, by the store's own rule.
 *
 * @throws StoreAwayError for what may; anything else as it is
 */
export async function orAway<T>(isAway: (error: unknown) => boolean, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAway(error)) throw new StoreAwayError(messageOf(error), { cause: error });
    throw error;
  }
}
