import { instantOf } from "../conditions/transition-time.js";
import { type CommandIo, UsageError } from "./command.js";

/** The last instant, in epoch milliseconds, that a date can show. */
const LAST = 8_640_000_000_000_000;

/**
 * The moment that `--at` names, or the present one.
 *
 * A time without a zone is none: whoever types it means their own, and the host may take another.
 *
 * @throws UsageError for a text that is neither RFC 3339 nor epoch milliseconds.
 *
 * @internal
 */
export function momentOf(at: string | undefined, io: CommandIo): number {
  if (at === undefined) return io.now();
  const moment = /^\d+$/.test(at) ? Number(at) : instantOf(at);
  if (moment !== undefined && moment <= LAST) return moment;
  throw new UsageError(
    `expected a time (RFC 3339 with its zone, as 2026-11-30T18:00:00Z, or epoch milliseconds) after --at, found ${JSON.stringify(at)}`,
  );
}
