import { hasMethod, invalid, kindOf } from "../errors.js";

/**
 * Refuses what is a mistake of the caller, by name and with the kind of what was found: what is looked at holds what a
 * sandbox says. Words that this version does not know are no mistake.
 *
 * @throws SlipwayError `INVALID_OPTION` naming the field.
 *
 * @internal
 */
export function checkInput(input: unknown): void {
  checkObject("input", input);
  const { record, observation, session, now } = input as Readonly<Record<string, unknown>>;
  checkObject("record", record);
  const { phase } = record as { readonly phase?: unknown };
  if (typeof phase !== "string") throw wrong("record.phase", "a text", phase);
  if (observation !== undefined && typeof observation !== "object")
    throw wrong("observation", "an object or null", observation);
  if (hasMethod(observation, "then"))
    throw wrong("observation", "what was seen, and no promise of it", observation);
  if (session !== undefined && typeof session !== "object")
    throw wrong("session", "an object or null", session);
  checkNow(now);
}

/**
 * Refuses an argument that is no object, by the name that it has here.
 *
 * @throws SlipwayError `INVALID_OPTION` naming the argument.
 *
 * @internal
 */
export function checkObject(name: string, value: unknown): void {
  if (typeof value !== "object" || value === null) throw wrong(name, "an object", value);
}

/** Refuses a hook that is none, by name. @internal */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== "function") throw wrong(name, "a function", value);
}

/**
 * Refuses options of which no instant can be taken: it would be written down, and mean nothing to whoever reads it.
 *
 * @throws SlipwayError `INVALID_OPTION` naming the field.
 *
 * @internal
 */
export function checkMoment(options: { readonly now: number }): void {
  checkObject("options", options);
  checkNow(options.now);
}

/**
 * Refuses a misspelt word of the caller's own, which would be taken for the one that is left.
 *
 * @throws SlipwayError `INVALID_OPTION` naming the argument.
 *
 * @internal
 */
export function checkWord(name: string, value: unknown, ...words: readonly string[]): void {
  if (!words.includes(value as string)) {
    const expected = words.map((word) => JSON.stringify(word)).join(" or ");
    throw invalid("INVALID_OPTION", "phase input", name, expected, value);
  }
}

/** @internal */
export function checkOperation(operation: unknown): void {
  checkWord("operation", operation, "start", "stop", "delete");
}

function checkNow(now: unknown): void {
  if (typeof now !== "number" || Number.isNaN(now)) throw wrong("now", "a number of epoch milliseconds", now);
}

function wrong(field: string, expected: string, value: unknown): Error {
  return invalid("INVALID_OPTION", "phase input", field, expected, value, kindOf(value));
}
