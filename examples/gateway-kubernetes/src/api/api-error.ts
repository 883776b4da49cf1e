import { headOf } from "@slipway-examples/gateway-core";
import { parseRetryAfter } from "slipway/retry";
import { isRecord, memberOf, recordsOf, type Plain } from "./plain.js";

/** The API server answered, and the answer is no. Carries what observers ask for: `status`, and the Status as it came. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Kubernetes' word: `NotFound`, `Conflict`, `Expired`, `AlreadyExists`; empty where the answer was no Status. */
  readonly reason: string;
  readonly retryAfterMs: number | null;
  readonly body: Plain | null;

  constructor(request: string, status: number, body: unknown, retryAfterMs: number | null = null) {
    const found = isRecord(body) && body["kind"] === "Status" ? body : null;
    const message = text(found?.["message"]) || (typeof body === "string" ? headOf(body.trim(), 300) : "");
    super(`${request}: ${status} ${message}`.trimEnd());
    this.status = status;
    this.reason = text(found?.["reason"]);
    this.retryAfterMs = retryAfterMs;
    this.body = found;
  }
}

/** No answer came: refused, reset, timed out, or a certificate that is not trusted. */
export class ApiUnreachableError extends Error {
  override readonly name = "ApiUnreachableError";
}

/** What this driver cannot do because another start, stop or removal came in between. The gateway decides again. */
export class OvertakenError extends Error {
  override readonly name = "OvertakenError";
}

export function isStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

/** The version that was asked from is too old: watch anew from a fresh list. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === "Expired");
}

/** The version that was asked from is one that the server has not come to: it was restored, or lags behind. */
export function isAhead(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const causes = recordsOf(memberOf(error.body, "details", "causes"));
  return causes.some(({ reason }) => reason === "ResourceVersionTooLarge");
}

/** The object changed since it was read, or another one has its name. */
export function isConflict(error: unknown): boolean {
  return isStatus(error, 409);
}

export function isAlreadyExists(error: unknown): boolean {
  return isStatus(error, 409) && error.reason === "AlreadyExists";
}

/**
 * Whether the server says that this very object is not there. A path that nobody serves answers 404 too, when the
 * resource definition is missing or its version is no longer served: that says nothing about any object.
 */
export function isObjectMissing(error: unknown, name: string): error is ApiError {
  if (!isStatus(error, 404)) return false;
  return error.reason === "NotFound" && memberOf(error.body, "details", "name") === name;
}

/** The server cannot take requests at present; not the request's fault, so that every other request waits as well. */
export function isOverload(error: unknown): boolean {
  if (error instanceof ApiUnreachableError) return true;
  return error instanceof ApiError && [429, 502, 503, 504].includes(error.status);
}

/** The same request may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  return isOverload(error) || (error instanceof ApiError && error.status >= 500);
}

/**
 * What the server asks to wait: its header, or the number of seconds in the Status.
 *
 * @param now - On the clock of whoever wrote the header, which may name an instant.
 */
export function retryAfterOf(header: string | undefined, body: unknown, now: number): number | null {
  const hinted = header === undefined ? null : parseRetryAfter(header, now);
  if (hinted !== null) return hinted;
  const seconds = memberOf(body, "details", "retryAfterSeconds");
  return typeof seconds === "number" && Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1000 : null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
