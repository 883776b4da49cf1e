import {
  lookUp,
  permanentEntry as permanent,
  suspectEntry as suspect,
  transientEntry as transient,
  type TableEntry,
} from "./entry.js";
import { strong, weak, type Finding } from "./finding.js";
import { read, readText } from "./inspect.js";
import { badRequest, fetchTexts, opaqueFetch, runtimeNames, fetchTypes } from "./runtime-names.js";
import { tlsEntry } from "./tls-codes.js";
import { tlsCodeIn } from "./tls-phrases.js";

const PROGRAM_ERRORS = ["TypeError", "RangeError", "SyntaxError", "ReferenceError"];

const programError = permanent("program", "The program is wrong, not the network: no wait mends it");
const foreignTimeout = transient("timeout", "A time limit of the operation's own ran out");
const foreignAbort = suspect("cancellation", "Something aborted the operation, and it was not the caller");

/** What the name of an error suggests where no code speaks. */
export function findName(error: unknown): Finding | undefined {
  const name = readText(error, "name");
  if (name === undefined) return undefined;
  const named = findNamed(error, name);
  if (named !== undefined) return weak(name, named);
  if (name === "TypeError") return findTypeError(error);
  if (name === "InvalidData") return findTls(readText(error, "message") ?? "");
  return PROGRAM_ERRORS.includes(name) && !isDomException(error) ? weak(name, programError) : undefined;
}

function findNamed(error: unknown, name: string): TableEntry | undefined {
  if (name === "TimeoutError") return foreignTimeout;
  if (name === "AbortError") return foreignAbort;
  if (name === "FetchError") return lookUp(fetchTypes, readText(error, "type") ?? "");
  return lookUp(runtimeNames, name);
}

function findTypeError(error: unknown): Finding {
  const message = readText(error, "message") ?? "";
  if (message === "fetch failed") return findFetchFailed(read(error, "cause"));
  const row = fetchTexts.find(([text]) => text.test(message))?.[1];
  return row === undefined ? weak("TypeError", programError) : (findTls(message) ?? weak("TypeError", row));
}

/** The failure of a handshake, where a runtime gives it in words only. */
function findTls(message: string): Finding | undefined {
  const code = tlsCodeIn(message);
  const row = code === undefined ? undefined : tlsEntry(code);
  return code === undefined || row === undefined ? undefined : strong(code, row);
}

function findFetchFailed(behind: unknown): Finding {
  const name = readText(behind, "name") ?? "";
  const named = findNamed(behind, name);
  if (named !== undefined) return weak(name, named);
  // A code that no table names is at least something that happened outside of this program.
  return readText(behind, "code") === undefined
    ? weak("FETCH_FAILED", badRequest)
    : weak("FETCH_FAILED", opaqueFetch);
}

/** A DOM exception may be named like a programming error; its legacy code tells it apart in every realm. */
function isDomException(error: unknown): boolean {
  return typeof read(error, "code") === "number";
}
