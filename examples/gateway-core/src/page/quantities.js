// @ts-check
const UNITS = ["B", "kB", "MB", "GB", "TB"];
const DAY_S = 86_400;

/**
 * A size in decimal units, with three significant digits: `312 MB`, `4.9 GB`.
 *
 * @param {number} bytes
 * @returns {string}
 */
export function formatBytes(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${trimZeros(value.toFixed(digits))} ${UNITS[unit]}`;
}

/**
 * A duration in its two largest units: `7 s`, `4 min 12 s`, `2 h 5 min`, `3 d 4 h`. Part of a second is none.
 *
 * @param {number} ms
 * @returns {string}
 */
export function formatDuration(ms) {
  return duration(ms, ["d", "h", "min", "s"], ([amount, unit]) => `${amount} ${unit}`);
}

/**
 * A duration for a voice: `4 minutes 12 seconds`, `1 hour`.
 *
 * @param {number} ms
 * @returns {string}
 */
export function spokenDuration(ms) {
  const units = ["day", "hour", "minute", "second"];
  return duration(ms, units, ([amount, unit]) => `${amount} ${unit}${amount === 1 ? "" : "s"}`);
}

/**
 * How long ago an instant was; one that is a little ahead is just now.
 *
 * @param {number} at
 * @param {number} now
 * @returns {string}
 */
export function formatAgo(at, now) {
  return now - at < 1000 ? "just now" : `${formatDuration(now - at)} ago`;
}

/**
 * @param {number} ms
 * @param {readonly string[]} units of a day, an hour, a minute and a second
 * @param {(part: [number, string]) => string} show
 */
function duration(ms, units, show) {
  const seconds = Math.floor(Math.max(ms, 0) / 1000);
  const amounts = [
    Math.floor(seconds / DAY_S),
    Math.floor((seconds % DAY_S) / 3600),
    Math.floor((seconds % 3600) / 60),
    seconds % 60,
  ];
  const first = amounts.findIndex((amount) => amount > 0);
  if (first === -1) return show([0, units[3] ?? ""]);
  return amounts
    .map((amount, index) => /** @type {[number, string]} */ ([amount, units[index] ?? ""]))
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(show)
    .join(" ");
}

/** @param {string} text */
function trimZeros(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
