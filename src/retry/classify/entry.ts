import type { FailureKind, Verdict } from "../verdict.js";

/** One row of a classification table: what a code means, and why. */
export interface TableEntry {
  /** What the code means for a bootstrap. */
  readonly verdict: Exclude<Verdict, "cancelled">;
  /** What the failure is about. */
  readonly kind: FailureKind;
  /** Why, and what the subtle part is. For people. */
  readonly explanation: string;
}

/**
 * What codes mean, by code.
 *
 * @public
 */
export type ClassificationTable = Readonly<Record<string, TableEntry>>;

type Row = (kind: FailureKind, explanation: string) => TableEntry;

export const transientEntry: Row = (kind, explanation) => ({ verdict: "transient", kind, explanation });
export const permanentEntry: Row = (kind, explanation) => ({ verdict: "permanent", kind, explanation });
export const suspectEntry: Row = (kind, explanation) => ({ verdict: "suspect", kind, explanation });

/** The row of a code; never one that an object inherits. */
export function lookUp(table: ClassificationTable, code: string): TableEntry | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}
