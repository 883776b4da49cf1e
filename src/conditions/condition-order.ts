import type { Condition } from "./condition.js";
import { statuses } from "./condition-status.js";
import { isGeneration } from "./condition-shape.js";
import { isObject } from "./same-value.js";
import { instantOf } from "./transition-time.js";

/**
 * Where a type occurs twice, the twin that speaks: the greater generation, then the later time, then content. Never the
 * position, so a list that a peer reordered still reads the same.
 *
 * A twin without a generation makes no claim and therefore yields to one that makes any; treating it as equal to all
 * would let three twins beat each other in a circle.
 *
 * @internal
 */
export function speakerOf(a: Condition | undefined, b: Condition): Condition {
  return a &&
    (generationOf(a) - generationOf(b) || timeOf(a) - timeOf(b) || (contentOf(a) < contentOf(b) ? -1 : 1)) > 0
    ? a
    : b;
}

function generationOf({ observedGeneration }: Condition): number {
  // What is no generation is no claim.
  return isGeneration(observedGeneration) ? (observedGeneration ?? -1) : -1;
}

function timeOf(condition: Condition): number {
  // A finite floor: the difference of two infinities is NaN, which would hide the rules below.
  return instantOf(condition.lastTransitionTime) ?? -9e15;
}

/**
 * Any fixed order will do; `False` comes after `True`, so that of two the cautious one speaks. A set that grows while
 * it is walked takes any depth and every circle.
 */
function contentOf(condition: Condition): string {
  const content: unknown[] = [statuses.indexOf(condition.status)];
  const found = new Set([condition as object as Record<string, unknown>]);
  for (const part of found) {
    content.push(Array.isArray(part));
    for (const name of Object.keys(part).sort()) {
      const value: unknown = part[name];
      // What is in an object follows in its turn.
      content.push(name, isObject(value) ? !found.add(value) : typeof value + String(value));
    }
  }
  return JSON.stringify(content);
}
