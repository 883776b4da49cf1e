import { LAST_INSTANT } from "../../deadline/limits.js";

/** RFC 3339 with any number of fraction digits: backends print up to nanoseconds. */
const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,12}))?(?:([Zz])|([+-])(\d{2}):?(\d{2}))$/;

const MS_A_DAY = 86_400_000;

/**
 * A backend's timestamp as epoch milliseconds, or `null` when it is none.
 *
 * Year 1 and the Unix epoch are zero values that mean "never", so they are `null` too. Plain arithmetic, because only
 * the clock's room may touch the host's date.
 */
export function instantOf(value: unknown): number | null {
  if (typeof value === "number") return inRange(value);
  if (typeof value !== "string") return null;
  const parts = RFC3339.exec(value.trim());
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return null;
  const fraction = Number(`${parts[7] ?? ""}000`.slice(0, 3));
  const offset = parts[8] === undefined ? sign(parts[9]) * (Number(parts[10]) * 60 + Number(parts[11])) : 0;
  const instant =
    daysFromCivil(year, month, day) * MS_A_DAY +
    ((hour * 60 + minute - offset) * 60 + second) * 1000 +
    fraction;
  return inRange(instant);
}

/** Seconds since the epoch, as Podman's list prints them; year 1 is a large negative number. */
export function instantOfSeconds(value: unknown): number | null {
  return typeof value === "number" ? inRange(value * 1000) : null;
}

/** What lies beyond the last date is no instant that anybody can show, keep as JSON or count with. */
function inRange(instant: number): number | null {
  const at = Math.floor(instant);
  return at > 0 && at <= LAST_INSTANT ? at : null;
}

function sign(text: string | undefined): number {
  return text === "-" ? -1 : 1;
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar, counted in years that begin in March. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
