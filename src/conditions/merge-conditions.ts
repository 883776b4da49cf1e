import type { Condition } from "./condition.js";
import { getExact } from "./condition-order.js";
import { sameValue } from "./same-value.js";
import { instantOf } from "./transition-time.js";

/**
 * Merges two versions of a list that grew from the same base: what a writer does when its compare-and-swap lost.
 *
 * A type in `ownedTypes` is as `mine` says, its absence included. For every other type a change of `mine` is kept only
 * where `theirs` left the base alone; when both changed it, theirs stands. Where the status agrees with the stored
 * one, the stored transition time stays. The very same array as `theirs` comes back when the merge changes nothing.
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
  const mineWins = (type: string): boolean => {
    const before = getExact(base, type);
    return (
      owned.has(type) ||
      (!sameValue(before, getExact(mine, type)) && sameValue(before, getExact(theirs, type)))
    );
  };
  const types = new Set([...theirs, ...mine].map((condition) => condition.type));
  const merged = [...types].flatMap((type): readonly Condition[] => {
    if (!mineWins(type)) return theirs.filter((condition) => condition.type === type);
    const own = getExact(mine, type);
    return own ? [keepTime(own, getExact(theirs, type))] : [];
  });
  return merged.length === theirs.length && merged.every((condition, at) => condition === theirs[at])
    ? theirs
    : merged;
}

/** The stored condition itself where nothing differs, so that the caller sees by reference that no write is due. */
function keepTime(own: Condition, stored: Condition | undefined): Condition {
  if (stored?.status !== own.status || instantOf(stored.lastTransitionTime) === undefined) return own;
  const timed = { ...own, lastTransitionTime: stored.lastTransitionTime };
  return sameValue(timed, stored) ? stored : timed;
}
