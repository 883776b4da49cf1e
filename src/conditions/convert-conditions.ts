import type { ReasonCatalog } from "./catalog/reason-catalog.js";
import { isKnown, reasonClass } from "./catalog/catalog-lookup.js";
import type { Condition } from "./condition.js";
import { asText, defined, isObject, unlessSame, wholeNumber } from "./same-value.js";
import { originOf } from "./matches-reason.js";

/**
 * For whom {@link convertConditions} publishes.
 *
 * @public
 */
export interface ConvertOptions {
  /** The catalog that says since when each reason is known. */
  readonly catalog: ReasonCatalog;
  /**
   * The contract that the reader asked for. A number that is no contract counts as 1, and one beyond the catalog's as
   * the catalog's own.
   *
   * @defaultValue 1
   */
  readonly contract?: number | undefined;
}

/**
 * Publishes conditions for a reader of a contract.
 *
 * A reason becomes the first of itself and its general reasons that the contract knows. The skipped reason goes to
 * `cause`, unless the writer stated one, and `convertedFrom` keeps what the writer stated, so that converting back
 * gives the first list again. Type, status, time, generation, message, unknown fields and order stay; no reason known
 * to be non-terminal becomes a terminal one; a reason that nothing known stands in for stays as it is. Never throws.
 * The very same array comes back when nothing changed.
 *
 * @example
 * ```ts
 * import { convertConditions, sandboxReasons } from "slipway/conditions";
 *
 * const stored = [{
 *   type: "Ready", status: "False", reason: "IsolationBackendMismatch", generalReasons: ["ImagePreparationTimedOut"],
 *   message: "restore the gateway selection or create a new sandbox", lastTransitionTime: "2026-01-01T00:00:00Z",
 * }] as const;
 * const [old] = convertConditions(stored, { catalog: sandboxReasons, contract: 1 });
 * old?.reason; // => "ImagePreparationTimedOut"
 * old?.cause?.reason; // => "IsolationBackendMismatch"
 * ```
 *
 * @public
 */
export function convertConditions(list: readonly Condition[], options: ConvertOptions): readonly Condition[] {
  const contract = readContract(options.contract);
  const converted = list.map((condition) => convert(condition, options.catalog, contract));
  return unlessSame(converted, list);
}

/**
 * The contract that a request asks for, from a header, a flag or a query: a positive integer as a number or in
 * decimal digits. Anything else, and nothing, is contract 1: a reader that does not ask gets what it always got.
 *
 * @example
 * ```ts
 * import { readContract } from "slipway/conditions";
 *
 * readContract("2"); // => 2
 * readContract(undefined); // => 1
 * ```
 *
 * @public
 */
export function readContract(value: unknown): number {
  const contract = Math.min(typeof value === "number" ? value : wholeNumber(value), Number.MAX_SAFE_INTEGER);
  return Number.isInteger(contract) && contract > 0 ? contract : 1;
}

/**
 * The index in `[reason, ...generalReasons]` of the reason that a contract shows.
 *
 * @internal
 */
export function shownIndex(chain: readonly string[], catalog: ReasonCatalog, contract: number): number {
  const stated = reasonClass(catalog, chain[0]) ?? "terminal";
  const index = chain.findIndex(
    (candidate) =>
      isKnown(catalog, candidate, contract) &&
      // What may still come right must not make an older client give up.
      (stated === "terminal" || reasonClass(catalog, candidate) !== "terminal"),
  );
  return Math.max(index, 0);
}

function convert(condition: Condition, catalog: ReasonCatalog, contract: number): Condition {
  // A peer's list may hold anything.
  if (!isObject(condition)) return condition;
  const stated = restore(condition);
  const { reason, cause } = stated;
  const generalReasons = generalOf(stated);
  const index = shownIndex([reason, ...generalReasons], catalog, contract);
  const general = generalReasons[index - 1];
  // A condition without a reason has nothing to come back to.
  if (general === undefined || !asText(reason)) return stated;
  if (general === condition.reason && stated !== condition) return condition;
  const further = generalReasons.slice(index);
  return defined({
    ...stated,
    reason: general,
    cause: cause ?? { reason, message: stated.message },
    generalReasons: further.length > 0 ? further : undefined,
    // What does not fit this condition is somebody's still, and comes back with the rest.
    convertedFrom: defined({ reason, generalReasons, cause, convertedFrom: stated.convertedFrom }),
  });
}

/** What the writer stated, with what a peer has added since: a later cause, general reasons beyond the writer's. */
function restore(condition: Condition): Condition {
  const origin = originOf(condition);
  if (origin === undefined) return condition;
  const { reason, generalReasons, cause, convertedFrom, ...more } = origin;
  const made = condition.cause;
  // The cause that a conversion makes of the skipped reason is nobody's statement; one that says more is somebody's.
  const isMade =
    made?.reason === reason && made.message === condition.message && Object.keys(made).length === 2;
  const added = generalOf(condition).filter((general) => !generalReasons.includes(general));
  return defined({
    ...condition,
    reason,
    generalReasons: [...generalReasons, ...added],
    cause: isMade ? cause : (made ?? cause),
    // What a peer added to the origin stays there, in one that speaks of nothing any more.
    convertedFrom: Object.keys(more).length > 0 ? { ...origin, generalReasons: [] } : convertedFrom,
  });
}

function generalOf({ generalReasons }: Condition): readonly string[] {
  return Array.isArray(generalReasons) ? (generalReasons as readonly string[]) : [];
}
