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

  /** The message without what is hidden of the value, which is shortened only then: half a secret is not known any more. */
  discreetly(hide: (text: string) => string): string {
    return hide(`${this.field} must be ${this.expected}, got ${shorten(hide(textOf(this.value)))}`);
  }
}

const SHOWN = 120;

/** A short rendering of any value for a message. */
export function showValue(value: unknown): string {
  return shorten(textOf(value));
}

/** JSON where there is one: not of a function, a symbol, a bigint, nor of what refuses to be read. */
function textOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "bigint") return `${value}n`;
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text ?? `a ${typeof value}`;
  } catch {
    return `a ${typeof value} that cannot be shown`;
  }
}

/** As much of a text as a message takes: also the name of a field may be as long as whoever wrote it liked. */
export function shorten(text: string): string {
  return text.length > SHOWN ? `${headOf(text, SHOWN - 1)}…` : text;
}
