import { sameValue } from "../same-value.js";
import {
  additive,
  announced,
  anotherReason,
  breaking,
  type CatalogDifference,
  safe,
} from "./catalog-difference.js";
import type { ReasonEntry } from "./reason-catalog.js";

/**
 * What differs between two versions of one reason, its backend words aside.
 *
 * @internal
 */
export function compareReason(
  reason: string,
  before: ReasonEntry,
  after: ReasonEntry,
  next: number,
): readonly CatalogDifference[] {
  const found: CatalogDifference[] = [];
  const another = anotherReason(next);
  if (before.class !== after.class) {
    const text = `${reason} was ${before.class} and is now ${after.class}: clients give up or wait where they did not.`;
    found.push(
      breaking("reason-class", reason, text, [
        `keep ${reason} ${before.class} and state the other case as its cause or on a condition of its own.`,
        another,
      ]),
    );
  }
  const [oldSince, since] = [before.since ?? 1, after.since ?? 1];
  if (oldSince !== since) {
    const text = `${reason} came in with contract ${oldSince} and now with ${since}: readers between see another reason.`;
    found.push(breaking("reason-since", reason, text, [`keep since: ${oldSince}.`, another]));
  }
  found.push(
    ...compareNames(reason, "type", before.types, after.types, "clients that look there do not see it", next),
    ...compareNames(
      reason,
      "refinement",
      before.refines,
      after.refines,
      "clients that group by it lose it",
      next,
    ),
    ...comparePhases(reason, before.phases, after.phases),
  );
  if (before.deprecatedIn !== after.deprecatedIn || before.replacedBy !== after.replacedBy) {
    found.push(safe("reason-deprecation", reason, `The deprecation of ${reason} changed; it stays known.`));
  }
  if (before.summary !== after.summary || before.action !== after.action) {
    found.push(safe("reason-text", reason, `The description of ${reason} was reworded.`));
  }
  return found;
}

/** @param next - The contract that would announce a loss; absent where it is none to a client. */
function compareNames(
  reason: string,
  what: string,
  before: readonly string[] = [],
  after: readonly string[] = [],
  effect: string,
  next: number | undefined,
): readonly CatalogDifference[] {
  const lost = before.filter((name) => !after.includes(name));
  const gained = after.filter((name) => !before.includes(name));
  const removed = lost.map((name) => {
    const text = `${reason} no longer has the ${what} ${name}: ${effect}.`;
    return next === undefined
      ? safe(`reason-${what}-removed`, reason, text)
      : breaking(`reason-${what}-removed`, reason, text, [`keep ${name}.`, announced(next, "lose it")]);
  });
  const added = gained.map((name) =>
    additive(`reason-${what}-added`, reason, `${reason} has the new ${what} ${name}.`),
  );
  const reordered = lost.length + gained.length === 0 && !sameValue(before, after);
  const order = reordered
    ? [safe(`reason-${what}-order`, reason, `The ${what} list of ${reason} is ordered anew.`)]
    : [];
  return [...removed, ...added, ...order];
}

/** Without a list a reason may accompany any phase, so dropping the list widens and adding one narrows. */
function comparePhases(
  reason: string,
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
): readonly CatalogDifference[] {
  if (before !== undefined && after !== undefined) {
    return compareNames(reason, "phase", before, after, "it is not seen in that phase any more", undefined);
  }
  if (before === after) return [];
  return after === undefined
    ? [additive("reason-phase-added", reason, `${reason} may now accompany any phase.`)]
    : [safe("reason-phase-removed", reason, `${reason} now accompanies ${after.join(", ")} only.`)];
}
