import { parseHttpDate } from "./http-date.js";

const DIGITS = /^\d+$/;
const PUSHBACK = /^-?\d+$/;

/**
 * The wait in milliseconds that a `Retry-After` value asks for, or `null` when it asks for none.
 *
 * Strict: whole seconds in digits, or one of HTTP's date forms. Everything else (a sign, a fraction, an exponent, a
 * date in the past, an empty text) is no hint: a sloppy reading turns "-3" into years and garbage into no wait at
 * all. A number too
 * large to count with is the largest that is not; the reader's own limit takes it.
 *
 * @param now - Epoch milliseconds; without it a date cannot be read as a wait.
 *
 * @example
 * ```ts
 * import { parseRetryAfter } from "slipway/retry";
 *
 * [parseRetryAfter("120"), parseRetryAfter("-3"), parseRetryAfter("soon")]; // => [120_000, null, null]
 * ```
 *
 * @public
 */
export function parseRetryAfter(value: string, now?: number): number | null {
  const text = value.trim();
  if (DIGITS.test(text)) return milliseconds(text, 1000);
  if (now === undefined) return null;
  const at = parseHttpDate(text, now);
  return at === null || at <= now ? null : at - now;
}

/** A hint that is given in milliseconds (`retry-after-ms`): digits only. */
export function parseRetryAfterMs(value: string): number | null {
  const text = value.trim();
  return DIGITS.test(text) ? milliseconds(text, 1) : null;
}

/**
 * What gRPC's `grpc-retry-pushback-ms` says: the wait in milliseconds, or `stop` when it is negative or unreadable,
 * which both mean that the server does not want to be asked again.
 *
 * @public
 */
export function parsePushback(value: string): number | "stop" {
  const text = value.trim();
  if (!PUSHBACK.test(text) || text.startsWith("-")) return "stop";
  return milliseconds(text, 1);
}

function milliseconds(digits: string, unitMs: number): number {
  return Math.min(Number(digits) * unitMs, Number.MAX_SAFE_INTEGER);
}

/** A hint of the embedder's own as a wait that can be counted with; `undefined` when it is none. */
export function wholeHint(hintMs: unknown): number | undefined {
  if (typeof hintMs !== "number" || !(hintMs >= 0)) return undefined;
  return Math.min(Math.ceil(hintMs), Number.MAX_SAFE_INTEGER);
}
