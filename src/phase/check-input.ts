import { invalid, kindOf } from "../errors.js";

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
  if (session !== undefined && typeof session !== "object")
    throw wrong("session", "an object or null", session);
  if (typeof now !== "number" || Number.isNaN(now)) throw wrong("now", "a number of epoch milliseconds", now);
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

/**
 * Refuses a misspelt `by`, which would open what only a user may do.
 *
 * @throws SlipwayError `INVALID_OPTION` naming it.
 *
 * @internal
 */
export function checkBy(by: unknown): void {
  if (by !== undefined && by !== "user" && by !== "automatic")
    throw invalid("INVALID_OPTION", "phase input", "by", '"user" or "automatic"', by);
}

function wrong(field: string, expected: string, value: unknown): Error {
  return invalid("INVALID_OPTION", "phase input", field, expected, value, kindOf(value));
}
