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
  const exact = exactEntry(table, name);
  if (exact !== undefined) return [name, exact];
  const folded = name.toLowerCase();
  return Object.entries(table ?? {}).find(
    ([other]) => other.length === name.length && other.toLowerCase() === folded,
  );
}

/**
 * The entry of a table by exactly this name.
 *
 * @internal
 */
export function exactEntry<Entry>(
  table: Readonly<Record<string, Entry>> | undefined,
  name: unknown,
): Entry | undefined {
  return typeof name === "string" && table && Object.hasOwn(table, name) ? table[name] : undefined;
}

/**
 * Whether a contract knows a reason: it came in with that contract or before, and is not retired in it.
 *
 * @internal
 */
export function isKnown(catalog: ReasonCatalog, reason: unknown, contract: number): boolean {
  const entry = exactEntry<ReasonEntry>(catalog.reasons, reason);
  return entry
    ? (entry.since ?? 1) <= contract
    : contract < (exactEntry(catalog.retired, reason)?.retiredIn ?? 0);
}

/**
 * The class of a reason, or `undefined` for one that the catalog does not describe. A retired name whose class was not
 * kept counts as terminal, so that it never stands in for what may still come right.
 *
 * @internal
 */
export function reasonClass(catalog: ReasonCatalog, reason: unknown): ReasonClass | undefined {
  const retired = exactEntry(catalog.retired, reason);
  return (
    exactEntry<ReasonEntry>(catalog.reasons, reason)?.class ?? (retired && (retired.class ?? "terminal"))
  );
}
