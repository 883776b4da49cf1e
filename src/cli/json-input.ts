import { show } from "../errors.js";
import { UsageError } from "./command.js";

/**
 * Reads JSON, or one JSON value a line as list commands print it.
 *
 * @internal
 */
export function parseJson(input: string, source: string, expected: string): unknown {
  // Some shells put a byte order mark in front of what they pipe.
  const text = input.startsWith("\uFEFF") ? input.slice(1) : input;
  const where = source === "-" ? "standard input" : source;
  if (text.trim() === "") throw new UsageError(`expected ${expected}, found nothing in ${where}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const lines = jsonLines(text);
    if (lines !== null) return lines;
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `expected ${expected}, found no JSON in ${where}: ${why}; it begins with ${show(text.trim())}`,
    );
  }
}

function jsonLines(text: string): unknown[] | null {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2) return null;
  try {
    return lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    return null;
  }
}
