const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_DAY = "(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)";
const MONTH = `(?<month>${MONTHS.join("|")})`;
const TIME = "(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})";

/** The three forms that HTTP has: the current one, and two that a recipient still has to read. */
const FORMS = [
  new RegExp(`^${DAY}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`),
  new RegExp(`^${DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * The instant that an HTTP date names, or `null` for any other text. Host parsers are no use here: they read "-5" as
 * the year 2001 and "120" as the year 120.
 */
export function parseHttpDate(text: string, now: number): number | null {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts !== undefined) return instant(parts, now);
  }
  return null;
}

function instant(parts: Record<string, string | undefined>, now: number): number | null {
  const number = (name: string): number => Number(parts[name]);
  const month = MONTHS.indexOf(parts["month"] ?? "");
  const [day, hour, minute, second] = [number("day"), number("hour"), number("minute"), number("second")];
  const year = parts["year"]?.length === 2 ? fullYear(number("year"), now) : number("year");
  if (day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 60) return null;
  return (((daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000;
}

/** A two-digit year that would lie more than fifty years ahead belongs to the past century. */
function fullYear(short: number, now: number): number {
  const thisYear = 1970 + Math.floor(now / (365.2425 * 86_400_000));
  const year = thisYear - (thisYear % 100) + short;
  return year > thisYear + 50 ? year - 100 : year;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

function daysIn(year: number, month: number): number {
  if (month === 1) return isLeap(year) ? 29 : 28;
  return month === 3 || month === 5 || month === 8 || month === 10 ? 30 : 31;
}

/** Days from 1 January 1970 in the Gregorian calendar. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const before = year - 1;
  const leaps = (y: number): number => Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  let days = (year - 1970) * 365 + leaps(before) - leaps(1969);
  for (let earlier = 0; earlier < month; earlier += 1) days += daysIn(year, earlier);
  return days + day - 1;
}
