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
  if (table === undefined) return undefined;
  const exact = Object.hasOwn(table, name) ? table[name] : undefined;
  if (exact !== undefined) return [name, exact];
  const folded = name.toLowerCase();
  return Object.entries(table).find(
    ([other]) => other.length === name.length && other.toLowerCase() === folded,
  );
}

/**
 * Whether a contract knows a reason: it came in with that contract or before, and is not retired in it.
 *
 * @internal
 */
export function isKnown(catalog: ReasonCatalog, reason: unknown, contract: number): boolean {
  if (typeof reason !== "string") return false;
  const entry = findByName(catalog.reasons, reason)?.[1];
  if (entry) return (entry.since ?? 1) <= contract;
  return contract < (findByName(catalog.retired, reason)?.[1].retiredIn ?? 0);
}

/**
 * The class of a reason, or `undefined` for one that the catalog does not describe.
 *
 * @internal
 */
export function reasonClass(catalog: ReasonCatalog, reason: unknown): ReasonClass | undefined {
  return typeof reason === "string" ? findByName<ReasonEntry>(catalog.reasons, reason)?.[1].class : undefined;
}
