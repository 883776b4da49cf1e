import { BYTES, isCount } from "./count.js";

/** What is no number is not printed as one. */
const UNKNOWN = "?";

const SIZE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];

/**
 * A size in decimal units, as Docker counts them, with one decimal: `512 MB`, `4.9 GB`.
 *
 * @example
 * ```ts
 * import { formatSize } from "slipway/progress";
 *
 * formatSize(8_089_725_051); // => "8.1 GB"
 * ```
 *
 * @public
 */
export function formatSize(bytes: number): string {
  if (!isCount(bytes)) return UNKNOWN;
  let value = bytes;
  let unit = 0;
  // What would be rounded to 1000 is one of the next unit.
  while (value >= (unit === 0 ? 999.5 : 999.95) && unit < SIZE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${rounded(value, unit === 0 ? 0 : 1)} ${SIZE_UNITS[unit]}`;
}

/**
 * A duration: `0.6s`, `3m02s`, `1h04m`.
 *
 * @param ms - Milliseconds. Less than 0 counts as 0.
 *
 * @example
 * ```ts
 * import { formatDuration } from "slipway/progress";
 *
 * formatDuration(182_000); // => "3m02s"
 * ```
 *
 * @public
 */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return UNKNOWN;
  if (ms < 59_950) return formatSeconds(ms);
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${twoDigits(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h${twoDigits(Math.floor((seconds % 3600) / 60))}m`;
}

/** A duration in seconds with one decimal, as timestamps are written: `227.1s`. */
export function formatSeconds(ms: number): string {
  return `${(Math.max(ms, 0) / 1000).toFixed(1)}s`;
}

/** A position in its unit: a size for bytes, else a number and the unit. */
export function formatQuantity(value: number, unit: string = BYTES): string {
  return unit === BYTES ? formatSize(value) : `${rounded(value, 1)} ${printable(unit)}`.trimEnd();
}

/** A line has one line: whatever a terminal could take for a command, or that would turn text around, is shown as `?`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "?");
}

const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

function rounded(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0$/, "");
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
