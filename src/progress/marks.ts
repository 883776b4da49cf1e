import { percentage, plus } from "./count.js";
import type { PartMark, TrackedStep } from "./state.js";

/** What a step has counted, and of how much. */
type Counted = Pick<TrackedStep, "total" | "marks">;

/** Place of the mark of (part, unit), -1 when there is none. Drivers report the latest parts most. */
export function findMark(marks: readonly PartMark[], part: string | null, unit: string | null): number {
  for (let index = marks.length - 1; index >= 0; index -= 1) {
    const mark = marks[index];
    if (mark?.part === part && mark.unit === unit) return index;
  }
  return -1;
}

/** The sum of a unit's marks. Raising a mark never lowers it. */
export function positionOf(marks: readonly PartMark[], unit: string | null): number {
  let sum = 0;
  for (const mark of marks) if (mark.unit === unit) sum = plus(sum, mark.position);
  return sum;
}

/**
 * The total of a step, `null` while unknown. That of the whole step where there is one, but never less than what the
 * parts add up to; else the sum over the parts, once every part that counts has a total.
 */
export function totalOf({ total, marks }: Counted): number | null {
  let sum = 0;
  let parts = 0;
  let allKnown = true;
  for (const mark of marks) {
    if (mark.unit !== null) continue;
    if (mark.part === null) {
      // What was counted without a part has no total but that of the whole step. Nothing counted is nothing missing.
      if (mark.position > 0) allKnown = false;
    } else if (mark.total === null) {
      allKnown = false;
    } else {
      parts += 1;
      sum = plus(sum, mark.total);
    }
  }
  if (total !== null) return Math.max(total, sum);
  return allKnown && parts > 0 ? sum : null;
}

/** The percentage of a step that is not finished: whole, below 100, `null` without a total. */
export function percentOf(step: Counted): number | null {
  const total = totalOf(step);
  return total ? percentage(positionOf(step.marks, null), total) : null;
}

/**
 * Whether the total is only what the parts heard of so far add up to: a part that appears later makes it grow. With
 * every one of them complete, nothing at all is known of what is left.
 */
export function isTotalOfParts(step: Counted): boolean {
  return step.total === null || step.total !== totalOf(step);
}

/** How many foreign units a step has marks of. */
export function countForeignUnits(marks: readonly PartMark[]): number {
  const units = new Set<string>();
  for (const { unit } of marks) if (unit !== null) units.add(unit);
  return units.size;
}

/** The marks with one at `index` exchanged, or appended when `index` is -1. */
export function withMark(marks: readonly PartMark[], index: number, mark: PartMark): readonly PartMark[] {
  const copy = marks.slice();
  if (index < 0) copy.push(mark);
  else copy[index] = mark;
  return copy;
}
