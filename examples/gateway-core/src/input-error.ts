import { headOf } from "./cut-text.js";

/** Input that cannot be used: names the field, what was expected there, and what was found. */
export class InvalidInputError extends Error {
  override readonly name = "InvalidInputError";
  readonly field: string;
  readonly expected: string;
  readonly value: unknown;

  constructor(field: string, expected: string, value: unknown) {
    super(`${shorten(field)} must be ${expected}, got ${showValue(value)}`);
    this.field = shorten(field);
    this.expected = expected;
    this.value = value;
  }
}

const SHOWN = 120;

/** A short rendering of any value for a message. */
export function showValue(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return shorten(text);
}

/** As much of a text as a message takes: also the name of a field may be as long as whoever wrote it liked. */
export function shorten(text: string): string {
  return text.length > SHOWN ? `${headOf(text, SHOWN - 1)}…` : text;
}
