import type { Condition } from "./condition.js";
import { speakerOf } from "./condition-order.js";
import { sameValue, unlessSame } from "./same-value.js";
import { keptTime, readTime } from "./transition-time.js";

/**
 * Merges two versions of a list that grew from the same base: what a writer does when its compare-and-swap lost.
 *
 * A type in `ownedTypes` is as `mine` says, its absence included. For every other type a change of `mine` is kept only
 * where `theirs` left the base alone; when both changed it, theirs stands. Where the status agrees with the stored
 * one, the stored transition time stays; times are kept and taken in
 * whole seconds. The very same array as `theirs` comes back when the merge changes nothing.
 *
 * @param base - The list that this writer read before it changed it.
 * @param mine - That list with this writer's changes.
 * @param theirs - The list as it is stored now.
 * @param ownedTypes - The types that this writer alone decides.
 *
 * @example
 * ```ts
 * import { mergeConditions } from "slipway/conditions";
 *
 * const at = { message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
 * const mine = [{ type: "Ready", status: "True", reason: "DependenciesReady", ...at }] as const;
 * const theirs = [{ type: "PodScheduled", status: "True", reason: "Scheduled", ...at }] as const;
 * mergeConditions([], mine, theirs, ["Ready"]).map((condition) => condition.type); // => ["PodScheduled", "Ready"]
 * ```
 *
 * @public
 */
export function mergeConditions(
  base: readonly Condition[],
  mine: readonly Condition[],
  theirs: readonly Condition[],
  ownedTypes: Iterable<string>,
): readonly Condition[] {
  const owned = new Set(ownedTypes);
  const [before, own, stored] = [speakers(base), speakers(mine), speakers(theirs)];
  const mineWins = (type: string): boolean =>
    owned.has(type) ||
    (!sameValue(before.get(type), own.get(type)) && sameValue(before.get(type), stored.get(type)));
  const merged = [...theirs, ...mine].flatMap((condition, at): readonly Condition[] => {
    const type = (condition as Condition | undefined)?.type as string;
    if (!mineWins(type)) return at < theirs.length ? [condition] : [];
    const said = own.get(type);
    // Said once; what is left of the type is a twin.
    return said && own.delete(type) ? [keepTime(said, stored.get(type))] : [];
  });
  return unlessSame(merged, theirs);
}

/** What speaks for each type, in one pass. */
function speakers(list: readonly (Condition | undefined)[]): Map<string, Condition> {
  const found = new Map<string, Condition>();
  for (const condition of list) {
    // A peer's list may hold anything.
    if (condition?.type) found.set(condition.type, speakerOf(found.get(condition.type), condition));
  }
  return found;
}

/** The stored condition itself where nothing differs, so that the caller sees by reference that no write is due. */
function keepTime(own: Condition, stored: Condition | undefined): Condition {
  const kept = keptTime(stored, own);
  // A stored time that is finer than a second is no reason to write either.
  if (kept && sameValue({ ...own, lastTransitionTime: stored?.lastTransitionTime }, stored))
    return stored as Condition;
  const lastTransitionTime = kept ?? readTime(own.lastTransitionTime);
  return lastTransitionTime ? { ...own, lastTransitionTime } : own;
}
