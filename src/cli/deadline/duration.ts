const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;

/**
 * A duration with its two largest units that count: `1h 5m`, `3m 2s`, `250ms`.
 *
 * @internal
 */
export function showDuration(durationMs: number): string {
  if (durationMs < 0) return `-${showDuration(-durationMs)}`;
  const first = UNITS.findIndex(([, size]) => durationMs >= size);
  if (first === -1) return "0s";
  let rest = Math.floor(durationMs);
  const parts: string[] = [];
  for (const [unit, size] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    // Milliseconds beside seconds are noise on any line longer than that.
    if (count > 0 && !(unit === "ms" && parts.length > 0)) parts.push(`${count}${unit}`);
  }
  return parts.join(" ");
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000,
];

/**
 * Offsets of the ticks of an axis so long: round numbers, at most nine of them.
 *
 * @internal
 */
export function ticksOf(lengthMs: number): readonly number[] {
  const day = 86_400_000;
  const step = STEPS.find((candidate) => lengthMs / candidate <= 8) ?? Math.ceil(lengthMs / (8 * day)) * day;
  return Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, index) => index * step);
}
