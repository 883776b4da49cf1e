import { parseRetryAfter, parseRetryAfterMs } from "../hints.js";
import { strong, type Finding } from "./finding.js";
import { httpEntry, rateLimited } from "./http-statuses.js";
import { read, readHeader, readInteger } from "./inspect.js";

const IN_MILLISECONDS = ["retry-after-ms", "x-ms-retry-after-ms"];
const REMAINING = ["x-ratelimit-remaining", "ratelimit-remaining", "x-rate-limit-remaining"];

/**
 * What an HTTP status means that an error carries (`status`, `statusCode`, or the same on its `response`), or that a
 * response thrown as it is carries.
 */
export function findHttpStatus(error: unknown, now: number | undefined): Finding | undefined {
  const holders = [error, read(error, "response"), read(error, "res")];
  for (const holder of holders) {
    const status = readInteger(holder, "status") ?? readInteger(holder, "statusCode");
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

function readRetryAfter(headers: unknown, now: number | undefined): number | undefined {
  for (const name of IN_MILLISECONDS) {
    const precise = readHeader(headers, name);
    const ms = precise === undefined ? null : parseRetryAfterMs(precise);
    if (ms !== null) return ms;
  }
  const plain = readHeader(headers, "retry-after");
  return plain === undefined ? undefined : (parseRetryAfter(plain, now) ?? undefined);
}

function isUsedUp(headers: unknown): boolean {
  return REMAINING.some((name) => readHeader(headers, name)?.trim() === "0");
}
