import { plus } from "./count.js";
import type { Pace } from "./state.js";

/** Shortest time to measure over: shorter ones show the size of a buffer. */
const SAMPLE_MS = 1000;

/** How long a change of the rate takes to show for the greater part. */
const SMOOTH_MS = 5000;

/**
 * The next sample after the position rose to `position`.
 *
 * @param found - How much of that was there already, as far as anybody knows, and counts for no rate.
 */
export function nextPace(pace: Pace | null, position: number, found: number, now: number): Pace {
  const from = found && pace ? { ...pace, position: Math.min(plus(pace.position, found), position) } : pace;
  if (from === null || (from.perSecond === null && from.position === position))
    return { at: now, position, perSecond: null };
  if (now - from.at < SAMPLE_MS) return from;
  return { at: now, position, perSecond: blended(from, position, now) };
}

/** The rate at `now`, in units per second: it falls while nothing moves. `null` before there is one. */
export function rateAt(pace: Pace | null, position: number, now: number): number | null {
  return pace && (now - pace.at < SAMPLE_MS ? pace.perSecond : blended(pace, position, now));
}

function blended(pace: Pace, position: number, now: number): number {
  const elapsed = now - pace.at;
  const measured = Math.min(((position - pace.position) / elapsed) * 1000, Number.MAX_VALUE);
  if (pace.perSecond === null) return measured;
  const weight = 1 - Math.exp(-elapsed / SMOOTH_MS);
  return pace.perSecond * (1 - weight) + measured * weight;
}
