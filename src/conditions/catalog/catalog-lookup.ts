import { ownField } from "../same-value.js";
import type { ReasonCatalog, ReasonClass, ReasonEntry } from "./reason-catalog.js";

/**
 * The entry of a table by name, in any letter case, as `[name, entry]`.
 *
 * @internal
 */
export function findByName<Entry>(
  table: Readonly<Record<string, Entry>> | undefined,
  name: string,
): readonly [string, Entry] | undefined {
  const exact = ownField(table, name);
  if (exact !== undefined) return [name, exact];
  const folded = name.toLowerCase();
  return Object.entries(table ?? {}).find(([other]) => other.toLowerCase() === folded);
}

/**
 * Whether a contract knows a reason: it came in with that contract or before, and is not retired in it.
 *
 * @internal
 */
export function isKnown(catalog: ReasonCatalog, reason: unknown, contract: number): boolean {
  const entry = ownField<ReasonEntry>(catalog.reasons, reason);
  return entry
    ? (entry.since ?? 1) <= contract
    : contract < (ownField(catalog.retired, reason)?.retiredIn ?? 0);
}

/**
 * The class of a reason, or `undefined` for one that the catalog does not describe. A retired name whose class was not
 * kept counts as terminal, so that it never stands in for what may still come right.
 *
 * @internal
 */
export function reasonClass(catalog: ReasonCatalog, reason: unknown): ReasonClass | undefined {
  const retired = ownField(catalog.retired, reason);
  return ownField<ReasonEntry>(catalog.reasons, reason)?.class ?? (retired && (retired.class ?? "terminal"));
}
