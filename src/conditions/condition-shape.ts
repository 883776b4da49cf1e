import type { Condition, ConditionCause, ConditionStatus, ConditionUpdate } from "./condition.js";
import { readStatus, statuses } from "./condition-status.js";
import { asText, defined, isFields } from "./same-value.js";
import { instantOf } from "./transition-time.js";

/**
 * The lengths that Kubernetes enforces on a condition, in characters (Unicode code points).
 *
 * @public
 */
export const conditionLimits = {
  /** Prefix, slash and name. */
  type: 316,
  /** A reason, wherever it stands. */
  reason: 1024,
  /** A message, of a condition or of a cause. */
  message: 32_768,
} as const;

/** A DNS subdomain (runs of letters and digits, between them hyphens or one dot) and a slash, or neither; then the name. */
const TYPE = /^([a-z\d]+((-+|\.)[a-z\d]+)*\/)?([^\W_][-\w.]*)?[^\W_]$/;
/** What a condition without a reason is stored under: Kubernetes refuses an empty one. */
const NO_REASON = "NoReasonReported";

/**
 * One field of a condition that Kubernetes would refuse.
 *
 * @public
 */
export interface ConditionIssue {
  /** The field that would be refused. */
  readonly field: keyof Condition;
  /** What was found there. */
  readonly value: unknown;
}

/**
 * What Kubernetes would refuse in a condition, one entry per field; empty when it is acceptable. Never throws.
 *
 * @example
 * ```ts
 * import { validateCondition } from "slipway/conditions";
 *
 * const foreign = { type: "Ready", status: "True", reason: "is up", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
 * validateCondition(foreign).map((issue) => issue.field); // => ["reason"]
 * ```
 *
 * @public
 */
export function validateCondition(condition: unknown): readonly ConditionIssue[] {
  const fields = Object(condition) as Partial<Condition>;
  const valid: Partial<Record<keyof Condition, boolean>> = {
    type: isConditionType(fields.type),
    status: statuses.includes(fields.status as ConditionStatus),
    reason: isReason(fields.reason),
    message: sanitizeMessage(fields.message) === fields.message,
    // What is read for all that: small letters, which Go refuses, and the hour after the last.
    lastTransitionTime:
      instantOf(fields.lastTransitionTime) !== undefined &&
      !/[tz]|T24/.test(fields.lastTransitionTime as string),
    observedGeneration: isGeneration(fields.observedGeneration),
  };
  return (Object.entries(valid) as [keyof Condition, boolean][]).flatMap(([field, isValid]) =>
    isValid ? [] : { field, value: fields[field] },
  );
}

/**
 * An update that Kubernetes will accept, with every foreign string made acceptable rather than refused: one strange
 * word from a backend must not cost the whole status write. What is acceptable already stays as it is. A field that the
 * writer does not state is there and undefined, because stating a condition takes it back.
 *
 * @internal
 */
export function sanitizeUpdate(update: ConditionUpdate): ConditionUpdate {
  const { observedGeneration, cause, generalReasons, convertedFrom, unread } = update;
  return {
    ...defined(update),
    type: sanitizeType(update.type),
    status: readStatus(update.status) ?? "Unknown",
    reason: sanitizeReason(update.reason),
    message: sanitizeMessage(update.message),
    observedGeneration: isGeneration(observedGeneration) ? observedGeneration : undefined,
    cause: sanitizeCause(cause),
    generalReasons: sanitizeReasons(generalReasons),
    // What lies in an origin inside of it is nobody's to read but a conversion's.
    convertedFrom: isFields(convertedFrom)
      ? defined({
          ...convertedFrom,
          reason: sanitizeReason(convertedFrom.reason),
          generalReasons: sanitizeReasons(convertedFrom.generalReasons) ?? [],
          cause: sanitizeCause(convertedFrom.cause),
        })
      : undefined,
    unread: isFields(unread) ? unread : undefined,
  };
}

/**
 * A reason that Kubernetes accepts, made from any string: what is not allowed becomes `_`, an empty one
 * `NoReasonReported`. A reason that is acceptable comes back as it is.
 *
 * @example
 * ```ts
 * import { sanitizeReason } from "slipway/conditions";
 *
 * sanitizeReason("OOM killed!"); // => "OOM_killed"
 * sanitizeReason("137"); // => "Reason_137"
 * ```
 *
 * @public
 */
export function sanitizeReason(text: string): string {
  const limit = conditionLimits.reason;
  const named = cut(text, limit).replace(/^\d/, "Reason_$&").slice(0, limit);
  return named.replace(/\W+$/, "").replace(/[^\w,:]+/g, "_") || NO_REASON;
}

/**
 * Whether a string may be the reason of a condition.
 *
 * @internal
 */
export function isReason(text: unknown): text is string {
  return sanitizeReason(text as string) === text;
}

/**
 * Whether a string may be the type of a condition.
 *
 * @internal
 */
export function isConditionType(text: unknown): text is string {
  return asText(text) === text && text.length <= conditionLimits.type && TYPE.test(text);
}

function sanitizeType(text: string): string {
  if (isConditionType(text)) return text;
  const name = cut(text, conditionLimits.type)
    .replace(/[\W_]+$/, "")
    .replace(/[^\w.-]+/g, "-");
  // Of letters that no type may have, the numbers: two such names stay two.
  const letters = asText(text).replace(/[ -~]/g, "").slice(0, 50);
  return name || Array.from(letters, (letter) => letter.codePointAt(0)).join(".");
}

function sanitizeMessage(message: unknown): string {
  const text = asText(message);
  const limit = conditionLimits.message;
  // A code point takes at most two units: most texts need no counting, and no text needs more.
  return text.length <= limit
    ? text
    : Array.from(text.slice(0, 2 * limit))
        .slice(0, limit)
        .join("");
}

function sanitizeReasons(reasons: unknown): readonly string[] | undefined {
  return Array.isArray(reasons) ? reasons.filter(asText).map(sanitizeReason) : undefined;
}

function sanitizeCause(cause: ConditionCause | undefined): ConditionCause | undefined {
  return isFields(cause)
    ? { ...cause, reason: sanitizeReason(cause.reason), message: sanitizeMessage(cause.message) }
    : undefined;
}

/**
 * Whether a value may be the generation of a condition; absent may be.
 *
 * @internal
 */
export function isGeneration(value: unknown): value is number | undefined {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0);
}

/** Without what no name begins with. Cut first: the text may be of any length. */
function cut(text: unknown, limit: number): string {
  return asText(text)
    .slice(0, limit)
    .replace(/^[\W_]+/, "");
}
