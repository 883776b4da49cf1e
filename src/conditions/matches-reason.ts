import type { ConversionOrigin } from "./condition.js";
import { asText } from "./same-value.js";

/**
 * What {@link matchesReason} reads of a condition; a peer's plain JSON will do.
 *
 * @public
 */
export interface ReasonedCondition {
  /** The reason that is stated. */
  readonly reason?: string | null | undefined;
  /** What it is a case of. */
  readonly generalReasons?: readonly string[] | null | undefined;
  /** The more specific finding behind it. */
  readonly cause?:
    | {
        /** Its reason. */
        readonly reason?: string | null | undefined;
      }
    | null
    | undefined;
  /** What was stated before a conversion. */
  readonly convertedFrom?: ConversionOrigin | null | undefined;
}

/**
 * How far {@link matchesReason} looks.
 *
 * @public
 */
export interface MatchOptions {
  /**
   * Whether a more specific finding counts: the cause, and the reason that a conversion generalised.
   *
   * @defaultValue true
   */
  readonly cause?: boolean | undefined;
}

/**
 * Whether a condition is a case of a reason: by its reason, by its general reasons, or (unless `cause: false`) by a
 * more specific finding behind it.
 *
 * What a client calls instead of comparing strings. Needs no catalog. A condition that `convertConditions` published
 * matches the same names in every contract, as long as nobody dropped its additive fields; with `cause: false` it
 * matches in an older contract only what that contract shows and what is more general. Reasons are exact strings:
 * letter case counts. An absent condition matches nothing, and an absent or empty reason is matched by nothing.
 *
 * @example
 * ```ts
 * import { matchesReason } from "slipway/conditions";
 *
 * const ready = { reason: "ImagePreparationTimedOut", cause: { reason: "IsolationBackendMismatch", message: "" } };
 * matchesReason(ready, "IsolationBackendMismatch"); // => true
 * matchesReason(ready, "IsolationBackendMismatch", { cause: false }); // => false
 * ```
 *
 * @public
 */
export function matchesReason(
  condition: ReasonedCondition | null | undefined,
  reason: string | null | undefined,
  options: MatchOptions = {},
): boolean {
  if (!condition || !reason) return false;
  if (condition.reason === reason || includes(condition.generalReasons, reason)) return true;
  if (options.cause === false) return false;
  const origin = originOf(condition);
  return (
    condition.cause?.reason === reason ||
    origin?.reason === reason ||
    includes(origin?.generalReasons, reason)
  );
}

/**
 * What the writer stated before a conversion, as long as it still speaks of the reason that the condition shows. A
 * peer that replaced the reason and passed the rest on has made the origin meaningless. A conversion keeps a
 * meaningless origin inside its own, so an origin around one that speaks of its reason is none of a conversion.
 *
 * @internal
 */
export function originOf(condition: ReasonedCondition, depth = 0): ConversionOrigin | undefined {
  const origin = condition.convertedFrom;
  return origin &&
    asText(origin.reason) &&
    includes(origin.generalReasons, condition.reason) &&
    !(depth < MOST_ORIGINS && originOf(origin, depth + 1))
    ? origin
    : undefined;
}

/**
 * Nobody converts so often: what is deeper is a circle, or meant to fill the stack.
 *
 * @internal
 */
export const MOST_ORIGINS = 99;

function includes(reasons: unknown, reason: unknown): boolean {
  return Array.isArray(reasons) && reasons.includes(reason);
}
