import { parseRetryAfter, parseRetryAfterMs } from "../hints.js";
import { strong, type Finding } from "./finding.js";
import { httpEntry, rateLimited } from "./http-statuses.js";
import { read, readHeader, readInteger } from "./inspect.js";

const REMAINING = ["x-ratelimit-remaining", "ratelimit-remaining", "x-rate-limit-remaining"];

/**
 * What an HTTP status means that an error carries (`status`, `statusCode`, or the same on its `response`), or that a
 * response thrown as it is carries.
 */
export function findHttpStatus(error: unknown, now: number | undefined): Finding | undefined {
  for (const holder of [error, read(error, "response"), read(error, "res")]) {
    const status = readInteger(holder, "status") ?? readInteger(holder, "statusCode");
    const entry = status === undefined ? undefined : httpEntry(status);
    if (status === undefined || entry === undefined) continue;
    const headers = read(holder, "headers") ?? read(error, "headers");
    const retryAfterMs = readRetryAfter(headers, now);
    const limited = status === 403 && (retryAfterMs !== undefined || isUsedUp(headers));
    return strong(`HTTP_${status}`, limited ? rateLimited : entry, { retryAfterMs });
  }
  return undefined;
}

function readRetryAfter(headers: unknown, now: number | undefined): number | undefined {
  const precise = readHeader(headers, "retry-after-ms");
  const ms = precise === undefined ? null : parseRetryAfterMs(precise);
  if (ms !== null) return ms;
  const plain = readHeader(headers, "retry-after");
  return plain === undefined ? undefined : (parseRetryAfter(plain, now) ?? undefined);
}

function isUsedUp(headers: unknown): boolean {
  return REMAINING.some((name) => readHeader(headers, name)?.trim() === "0");
}
