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
  /** For a breaking difference: the two ways out, additive exposure now and the change in a new contract. */
  readonly remedies?: readonly string[] | undefined;
}

/**
 * The two ways to a change that breaks nobody unasked: what can be done now, and what a new contract is for. Where no
 * contract helps, the second says so.
 *
 * @internal
 */
export type WaysOut = readonly [now: string, inNewContract: string];

/**
 * A breaking difference.
 *
 * @internal
 */
export function breaking(
  kind: string,
  subject: string,
  explanation: string,
  [now, inNewContract]: WaysOut,
  contracts?: readonly number[],
): CatalogDifference {
  const remedies = [`Additive exposure now: ${now}`, `Change in a new contract: ${inNewContract}`];
  return { level: "breaking", kind, subject, explanation, ...(contracts && { contracts }), remedies };
}

/**
 * The second way where a list has one form for the readers of all contracts: a number announces the change and spares
 * nobody.
 *
 * @internal
 */
export function announced(contract: number, price: string): string {
  return `raise contract to ${contract}, which announces it; readers of older contracts ${price} too.`;
}

/**
 * The second way where a published reason itself was changed: no contract makes another one of it.
 *
 * @internal
 */
export function anotherReason(contract: number): string {
  return `a published reason stays what it was: add another one with since: ${contract} and raise contract to ${contract}.`;
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
