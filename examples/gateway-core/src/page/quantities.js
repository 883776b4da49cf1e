// @ts-check
const UNITS = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
const DAY_S = 86_400;

/**
 * A size as `formatSize` of slipway/progress prints it, which needs a build step to be here: a test compares the two.
 *
 * @param {number} bytes
 * @returns {string}
 */
export function formatSize(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= (unit === 0 ? 999.5 : 999.95) && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 ? 0 : 1).replace(/\.0$/, "")} ${UNITS[unit]}`;
}

/**
 * How long something took, as `formatDuration` of slipway/progress prints it: `0.6s`, `3m02s`, `1h04m`. Where a moment is
 * not worth a digit, as in what is left of a deadline, use {@link formatDuration}.
 *
 * @param {number} ms
 * @returns {string}
 */
export function formatElapsed(ms) {
  if (ms < 59_950) return `${(Math.max(ms, 0) / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  const [large, small, units] =
    seconds < 3600
      ? [Math.floor(seconds / 60), seconds % 60, ["m", "s"]]
      : [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), ["h", "m"]];
  return `${large}${units[0]}${String(small).padStart(2, "0")}${units[1]}`;
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
