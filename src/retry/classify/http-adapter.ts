import { parseRetryAfter, parseRetryAfterMs } from "../hints.js";
import { strong, type Finding } from "./finding.js";
import { httpEntry, rateLimited } from "./http-statuses.js";
import { isFields, read, readHeader, readInteger } from "./inspect.js";

const IN_MILLISECONDS = ["retry-after-ms", "x-ms-retry-after-ms"];
const REMAINING = ["x-ratelimit-remaining", "ratelimit-remaining", "x-rate-limit-remaining"];
const RESET = ["x-ratelimit-reset", "ratelimit-reset", "x-rate-limit-reset"];
/** `limit=10, remaining=0, reset=5`, later `"default";r=0;t=5`. */
const NOTHING_LEFT = /(?:^|[,;\s])(?:remaining|r)=0(?:$|[,;\s])/i;

/**
 * What an HTTP status means that an error carries (`status`, `statusCode`, or the same on its `response`; `code` where
 * Kubernetes' API says it), or that a response thrown as it is carries.
 */
export function findHttpStatus(error: unknown, now: number | undefined): Finding | undefined {
  const holders = [error, read(error, "response"), read(error, "res")];
  for (const holder of holders) {
    const status =
      readInteger(holder, "status") ?? readInteger(holder, "statusCode") ?? readKubernetesCode(holder);
    const entry = status === undefined ? undefined : httpEntry(status);
    if (status === undefined || entry === undefined) continue;
    // The status may be on the error, and the headers on its response.
    const bags = [holder, ...holders].map((each) => read(each, "headers"));
    const retryAfterMs = bags.map((bag) => readRetryAfter(bag, now)).find((ms) => ms !== undefined);
    const limited = status === 403 && (retryAfterMs !== undefined || bags.some(isUsedUp));
    return strong(`HTTP_${status}`, limited ? rateLimited : entry, { retryAfterMs });
  }
  return undefined;
}

/** A number alone may be an exit code: this one is beside the answer's headers, or in a Status of the API. */
function readKubernetesCode(holder: unknown): number | undefined {
  const isAnswer = isFields(read(holder, "headers")) || read(holder, "kind") === "Status";
  return isAnswer ? readInteger(holder, "code") : undefined;
}

function readRetryAfter(headers: unknown, now: number | undefined): number | undefined {
  for (const name of IN_MILLISECONDS) {
    const precise = readHeader(headers, name);
    const ms = precise === undefined ? null : parseRetryAfterMs(precise);
    if (ms !== null) return ms;
  }
  const plain = readHeader(headers, "retry-after");
  return plain === undefined ? undefined : (parseRetryAfter(plain, now) ?? undefined);
}

/** By a count of its own, by the one field of the newer drafts, or by a reset without any count. */
function isUsedUp(headers: unknown): boolean {
  const counts = REMAINING.map((name) => readHeader(headers, name)).filter((count) => count !== undefined);
  if (counts.length > 0) return counts.some((count) => count.trim() === "0");
  const combined = readHeader(headers, "ratelimit");
  if (combined !== undefined) return NOTHING_LEFT.test(combined);
  return RESET.some((name) => readHeader(headers, name) !== undefined);
}
