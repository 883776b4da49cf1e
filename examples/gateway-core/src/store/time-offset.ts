/** When it is at another place: not before one instant and not after the other, epoch milliseconds. */
export interface TimeReading {
  readonly earliest: number;
  readonly latest: number;
}

/** How far another clock is ahead of this one, in milliseconds: at least, and at most. */
export interface TimeOffset {
  readonly least: number;
  readonly most: number;
}

/** What a reading says that was asked for at `before` and had come by `after`, whenever in between it was made. */
export function offsetOf({ earliest, latest }: TimeReading, before: number, after: number): TimeOffset {
  return { least: earliest - after, most: latest - before };
}

/**
 * What two statements about one offset say together. Those that contradict each other tell that a clock was set: the
 * later one holds.
 *
 * @param driftMs - How far the clocks may have drifted apart since the earlier one.
 */
export function narrowed(known: TimeOffset, next: TimeOffset, driftMs: number): TimeOffset {
  const least = Math.max(known.least - driftMs, next.least);
  const most = Math.min(known.most + driftMs, next.most);
  return least <= most ? { least, most } : next;
}

/** The offset to go by, wrong by half the span at most. */
export function middleOf({ least, most }: TimeOffset): number {
  return Math.round((least + most) / 2);
}
