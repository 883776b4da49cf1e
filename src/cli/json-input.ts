import { isSlipwayError, show } from "../errors.js";
import { UsageError } from "./command.js";

/**
 * What an input is called in messages.
 *
 * @internal
 */
export function sourceName(path: string): string {
  return path === "-" ? "standard input" : path;
}

/**
 * Runs what reads an input, and names that input in the error when it cannot be used.
 *
 * @internal
 */
export function saidOf<Result>(where: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UsageError) && !isSlipwayError(error)) throw error;
    if (error.message.includes(where)) throw error;
    throw new UsageError(`${error.message} in ${where}`, { cause: error });
  }
}

/**
 * Reads JSON, or several JSON documents one after the other, as list commands and loops over a command print them.
 *
 * @throws UsageError that says what was expected and what was found.
 *
 * @internal
 */
export function parseJson(input: string, source: string, expected: string): unknown {
  // Some shells put a byte order mark in front of what they pipe.
  const text = input.startsWith("\uFEFF") ? input.slice(1) : input;
  const where = sourceName(source);
  if (text.trim() === "") throw new UsageError(`expected ${expected}, found nothing in ${where}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const documents = severalDocuments(text);
    if (documents !== null) return documents;
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `expected ${expected}, found no JSON in ${where}: ${why.replace(/\s+/g, " ")}; it begins with ${show(text.trim())}`,
    );
  }
}

/** Two or more documents, lists among them taken apart; `null` when the text is not that. */
function severalDocuments(text: string): unknown[] | null {
  const documents: unknown[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const end = documentEnd(rest);
    if (end === null) return null;
    try {
      documents.push(JSON.parse(rest.slice(0, end)));
    } catch {
      return null;
    }
    rest = rest.slice(end).trimStart();
  }
  return documents.length < 2 ? null : documents.flat();
}

/** Where the object or list at the start of a text ends; a scalar ends with its line. */
function documentEnd(text: string): number | null {
  if (text[0] !== "{" && text[0] !== "[") {
    const line = text.indexOf("\n");
    return line === -1 ? text.length : line;
  }
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index];
    if (inString) {
      if (char === "\\") index += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return null;
}
