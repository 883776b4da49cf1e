import {
  permanentEntry as permanent,
  suspectEntry as suspect,
  transientEntry as transient,
} from "./entry.js";
import { weak, type Finding } from "./finding.js";
import { read, readText } from "./inspect.js";

const PROGRAM_ERRORS = ["TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError"];

/** What browsers call a request that failed on the network: they keep the cause to themselves. */
const OPAQUE_FETCH = [
  "Failed to fetch",
  "Load failed",
  "NetworkError when attempting to fetch resource.",
  "Network request failed",
];

const programError = permanent("program", "The program is wrong, not the network: no wait mends it");
const badRequest = permanent(
  "configuration",
  "The request failed before any network: its address or options are wrong",
);
const opaqueFetch = suspect("network", "The browser does not say why the request failed");
const bodyEnded = transient("network", "The body ended before its end: the peer restarts");
const foreignTimeout = transient("timeout", "A time limit of the operation's own ran out");
const foreignAbort = suspect("cancellation", "Something aborted the operation, and it was not the caller");

/** What the name of an error suggests where no code speaks. */
export function findName(error: unknown): Finding | undefined {
  const name = readText(error, "name");
  if (name === undefined) return undefined;
  if (name === "TimeoutError") return weak(name, foreignTimeout);
  if (name === "AbortError") return weak(name, foreignAbort);
  if (name === "TypeError") return findTypeError(error);
  return PROGRAM_ERRORS.includes(name) && !isDomException(error) ? weak(name, programError) : undefined;
}

function findTypeError(error: unknown): Finding {
  const message = readText(error, "message") ?? "";
  if (message === "terminated") return weak("TypeError", bodyEnded);
  if (OPAQUE_FETCH.includes(message)) return weak("TypeError", opaqueFetch);
  if (message !== "fetch failed") return weak("TypeError", programError);
  const behind = read(error, "cause");
  // A code that no table names is at least something that happened outside of this program.
  return readText(behind, "code") === undefined
    ? weak("FETCH_FAILED", badRequest)
    : weak("FETCH_FAILED", opaqueFetch);
}

/** A DOM exception may be named like a programming error; its legacy code tells it apart in every realm. */
function isDomException(error: unknown): boolean {
  return typeof read(error, "code") === "number";
}
