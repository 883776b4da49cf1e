/**
 * Stable codes of the errors that Slipway throws. Codes follow semantic versioning; messages do not.
 *
 * @public
 */
export type SlipwayErrorCode =
  | "INVALID_PLAN"
  | "INVALID_OPTION"
  | "INVALID_EVENT"
  | "INVALID_INSTANT"
  | "INVALID_STATE"
  | "UNSUPPORTED_SCHEMA_VERSION"
  | "INVALID_CONDITION"
  | "INVALID_CATALOG"
  | "START_REFUSED"
  | "DEADLINE_EXPIRED"
  | "ATTEMPT_SUPERSEDED"
  | "COMMIT_FAILED"
  | "BOOTSTRAP_PERMANENT"
  | "BOOTSTRAP_DEADLINE"
  | "BOOTSTRAP_EXHAUSTED";

/**
 * What an error is about: the field that is wrong, the value found there, and the error behind it.
 *
 * @public
 */
export interface SlipwayErrorDetail {
  /** Path of the offending field, for instance `phases[0].budgetMs`. */
  readonly field?: string | undefined;
  /** The value found there, as it was given. */
  readonly value?: unknown;
  /** The error behind it: the `cause` of the new one. */
  readonly cause?: unknown;
}

/**
 * A mistake that no caller can wait out: a malformed plan, an impossible event, a corrupt record.
 *
 * Ordinary refusals (a duplicate, a stale attempt, an expired deadline) are values, never errors.
 *
 * @example
 * ```ts
 * import { definePlan, isSlipwayError } from "slipway";
 *
 * try {
 *   definePlan({ phases: [{ name: "preparation", budgetMs: -1 }] });
 * } catch (error) {
 *   if (isSlipwayError(error)) console.log(error.code, error.field); // INVALID_PLAN phases[0].budgetMs
 * }
 * ```
 *
 * @public
 */
export class SlipwayError extends Error {
  /** The name of the class. */
  override readonly name: string = "SlipwayError";
  /** Marks the class across copies of the package, where `instanceof` does not hold. */
  readonly "~slipway/error" = true;
  /** What kind of mistake it is: what a program compares. */
  readonly code: SlipwayErrorCode;
  /** Path of the offending field, `undefined` when the mistake is about none. */
  readonly field: string | undefined;
  /** The value found there, as it was given. Not enumerable: who logs the error does not log what a port holds. */
  declare readonly value: unknown;

  /** Makes an error. The message is for people: never parse it. */
  constructor(code: SlipwayErrorCode, message: string, detail: SlipwayErrorDetail = {}) {
    super(message, detail);
    this.code = code;
    this.field = detail.field;
    // Of a property's description, the detail has the value and nothing else.
    Object.defineProperty(this, "value", detail);
  }
}

/**
 * Whether a value is a {@link SlipwayError}, from this or another copy of the package.
 *
 * @public
 */
export function isSlipwayError(value: unknown): value is SlipwayError {
  return typeof value === "object" && value !== null && "~slipway/error" in value;
}

/**
 * One fault of an input: where, what was expected there, and what was found.
 *
 * @internal
 */
export interface Fault {
  readonly field: string;
  readonly expected: string;
  readonly value: unknown;
}

/**
 * The error for one wrong field: names the field, what was expected and what was found.
 *
 * @param shown - What the message shows of the value. {@link kindOf} for a port, a hook or a set of options.
 *
 * @internal
 */
export function invalid(
  code: SlipwayErrorCode,
  subject: string,
  field: string,
  expected: string,
  value: unknown,
  shown?: string,
): SlipwayError {
  const where = field === "" ? subject : `${subject}: ${field}`;
  return new SlipwayError(code, `Invalid ${where} must be ${expected}, got ${shown ?? show(value)}`, {
    field,
    value,
  });
}

/**
 * Whether a value has a method of this name, as a port that a caller hands in must. Never throws: a getter that does
 * gives no method, and neither does nothing.
 *
 * @internal
 */
export function hasMethod(value: unknown, name: string): boolean {
  try {
    return typeof (value as Readonly<Record<string, unknown>>)[name] === "function";
  } catch {
    return false;
  }
}

const SHOWN_LENGTH = 80;

/**
 * A short rendering of any data for a message: a plan, an event, a record. Never throws. What a caller hands in to be
 * called is shown by {@link kindOf}, for messages are logged, and a store or a client holds credentials.
 *
 * @internal
 */
export function show(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(clip(value, SHOWN_LENGTH));
    case "bigint":
      return `${value}n`;
    case "function":
      return "a function";
    case "object":
      return showObject(value);
    default:
      return String(value);
  }
}

function showObject(value: object | null): string {
  try {
    return clip(JSON.stringify(value), SHOWN_LENGTH);
  } catch {
    return "an object";
  }
}

/**
 * What a value is, by the name of its class, and nothing of what it says: what is shown of a port, a hook or a set of
 * options, where even a text may be a connection string. Never throws, whatever proxies and getters do.
 *
 * @internal
 */
export function kindOf(value: unknown): string {
  try {
    const { constructor } = value as object;
    const name: unknown = constructor.name;
    // What somebody put in place of a class may be any text.
    if (typeof constructor === "function" && typeof name === "string" && /^[A-Z]\w{0,60}$/.test(name))
      return name;
  } catch {
    // It has no class, or does not want to be looked at.
  }
  return value === null ? "null" : typeof value === "object" ? "an object" : typeof value;
}

/**
 * The text cut to at most `length` UTF-16 units, never inside a surrogate pair, with an ellipsis where it was cut.
 *
 * @internal
 */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = isHighSurrogate(text.charCodeAt(length - 2)) ? length - 2 : length - 1;
  return `${text.slice(0, end)}…`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
