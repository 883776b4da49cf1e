import { SlipwayError } from "../errors.js";
import { isText, wholeNumber } from "./same-value.js";

const YEAR_1 = -62_135_596_800_000;
const YEAR_10000 = 253_402_300_800_000;
const RFC_3339 = /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i;

/**
 * An instant as conditions carry it: RFC 3339 in UTC, cut to whole seconds, so that a value that was written and
 * read back still equals itself.
 *
 * @param at - Epoch milliseconds, in the years 1 to 9999.
 * @throws {@link SlipwayError} `INVALID_INSTANT` for a number that RFC 3339 cannot carry.
 *
 * @public
 */
export function transitionTime(at: number): string {
  if (!isInstant(at))
    throw new SlipwayError("INVALID_INSTANT", `Invalid now, in epoch ms: ${at}`, {
      field: "now",
      value: at,
    });
  return render(at);
}

/**
 * The instant that an RFC 3339 text names, in epoch milliseconds; `undefined` for any other value.
 *
 * @internal
 */
export function instantOf(time: unknown): number | undefined {
  if (!isText(time) || !RFC_3339.test(time)) return undefined;
  const at = Date.parse(time.toUpperCase());
  const day = time.slice(0, 10);
  // Date.parse takes 30 February for 2 March.
  return isInstant(at) && render(Date.parse(day)).startsWith(day) ? at : undefined;
}

/**
 * A transition time as peers write it (RFC 3339, protobuf `seconds` and `nanos`, epoch milliseconds, a `Date`) in the
 * form of {@link transitionTime}; `undefined` when it is none of them.
 *
 * @internal
 */
export function readTime(value: unknown): string | undefined {
  const at = instantOf(value) ?? numericInstant(value);
  return at === undefined ? undefined : render(at);
}

/**
 * The stored transition time in whole seconds, where the status stays and the time is one.
 *
 * @internal
 */
export function keptTime(stored: Stated | undefined, { status }: Pick<Stated, "status">): string | undefined {
  return stored?.status === status ? readTime(stored?.lastTransitionTime) : undefined;
}

interface Stated {
  readonly status: string | undefined;
  readonly lastTransitionTime: string;
}

function numericInstant(value: unknown): number | undefined {
  const at =
    typeof value === "number" || value instanceof Date
      ? Number(value)
      : wholeNumber((Object(value) as { seconds?: unknown }).seconds) * 1000;
  return isInstant(at) ? at : undefined;
}

function isInstant(at: number): boolean {
  return at >= YEAR_1 && at < YEAR_10000;
}

function render(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
