/**
 * What a difference between two versions of a catalog does to clients written against the older one: `breaking` (some
 * client sees another answer), `additive` (there is more to see for who looks for it), `safe` (nothing to see).
 *
 * @public
 */
export type DifferenceLevel = "breaking" | "additive" | "safe";

/**
 * One difference between two versions of a catalog.
 *
 * @public
 */
export interface CatalogDifference {
  /** What it does to clients of the older version. */
  readonly level: DifferenceLevel;
  /** What kind of difference it is, a stable word: `emission-reason`, `reason-removed`, ... */
  readonly kind: string;
  /** What differs: a reason, a type, or `operation/cause/type` of an emission. */
  readonly subject: string;
  /** What changed and who sees it, in a sentence. */
  readonly explanation: string;
  /** The contracts whose readers see it, where the answer depends on the contract. */
  readonly contracts?: readonly number[] | undefined;
  /** For a breaking difference: the ways to make the change without breaking a client. */
  readonly remedies?: readonly string[] | undefined;
}

/**
 * A breaking difference.
 *
 * @internal
 */
export function breaking(
  kind: string,
  subject: string,
  explanation: string,
  remedies: readonly string[],
  contracts?: readonly number[],
): CatalogDifference {
  return { level: "breaking", kind, subject, explanation, ...(contracts && { contracts }), remedies };
}

/**
 * An additive difference.
 *
 * @internal
 */
export function additive(kind: string, subject: string, explanation: string): CatalogDifference {
  return { level: "additive", kind, subject, explanation };
}

/**
 * A safe difference.
 *
 * @internal
 */
export function safe(kind: string, subject: string, explanation: string): CatalogDifference {
  return { level: "safe", kind, subject, explanation };
}
