import { classify } from "slipway/retry";

/**
 * What PostgreSQL says of a state of its own that may pass by itself, by its code: a connection that broke or was
 * refused (08, but not what breaks the protocol, as a pooler calls a mistake in its configuration), resources that ran
 * out for now (53), a lock that somebody has (55P03), an end by an administrator, a crash or a timeout, a start under
 * way (57), a disk that failed (58030), a conflict with another transaction (40), a standby that is not the primary
 * yet (25006), a session that was silent for too long (25P03). A database that was dropped (57P04) stays so.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const AWAY =
  /^(?:08(?!P01)...|25006|25P0[34]|40001|40003|40P01|53[0-3]00|55P03|57000|57014|57P0[1235]|58000|58030)$/;

/** Its client's own words for a connection that broke, never came, or has died without a word: they have no code. */
const BROKEN = new RegExp(
  [
    "^Connection terminated",
    "^timeout expired$",
    "^timeout exceeded when trying to connect$",
    "^Query read timeout$",
    "^Client has encountered a connection error and is not queryable$",
    "^Client was closed and is not queryable$",
  ].join("|"),
);

/** Whether the connection is of no use any more: nothing that is sent on it is answered. */
export function isBroken(error: unknown): boolean {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === "string" && BROKEN.test(message);
}

/** Whether a database that failed so may come by itself: mistakes of whoever starts the gateway do not. */
export function isDatabaseAway(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === "string" && AWAY.test(code)) return true;
  return isBroken(error) || classify(error).verdict === "transient";
}
