import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { messageOf, type Log } from "../gateway/log.js";
import { NoSuchSandboxError } from "../gateway/sandbox-records.js";
import { HIDDEN, masked } from "../gateway/secrets.js";
import { InvalidInputError } from "../input-error.js";
import { CorruptRecordError } from "../record/record-schema.js";

/** The body of every answer that is not a success. */
export interface ErrorBody {
  readonly error: {
    /** Stable, for programs. */
    readonly code: string;
    /** For people. */
    readonly message: string;
    readonly field?: string;
    readonly value?: unknown;
  };
}

export function errorBody(code: string, message: string): ErrorBody {
  return { error: { code, message } };
}

/** Every thrown error as an answer. What is nobody's mistake out there says no more than that it went wrong here. */
export function answerError(error: Error, context: Context, log: Log): Response {
  if (error instanceof InvalidInputError) {
    const { field, message, value } = discreet(error);
    return context.json({ error: { code: "invalid-input", message, field, value: value ?? null } }, 400);
  }
  if (error instanceof NoSuchSandboxError) return context.json(errorBody("not-found", error.message), 404);
  if (error instanceof HTTPException) return context.json(errorBody("http", error.message), error.status);
  log("request-failed", { path: context.req.path, error: messageOf(error) });
  if (error instanceof CorruptRecordError) {
    return context.json(errorBody("corrupt-record", error.message), 500);
  }
  return context.json(errorBody("internal", "the gateway failed; its log says why"), 500);
}

/** Fields that may carry a secret of whoever sends them, and everything below them. */
const DELICATE = /^(?:body|policy|driverOptions|message|cause)(?:$|[.[])/;

/** The same error with the value as far as it may be said again: an answer is kept and shown where a request is not. */
function discreet(error: InvalidInputError): InvalidInputError {
  const { field, expected, value } = error;
  if (typeof value === "object" && value !== null)
    return new InvalidInputError(field, expected, masked(value));
  return DELICATE.test(field) && typeof value === "string"
    ? new InvalidInputError(field, expected, HIDDEN)
    : error;
}

/** The status of a refusal by a rule. */
export function statusOf(code: string): ContentfulStatusCode {
  if (code === "unauthorized") return 401;
  if (code === "expired" || code === "settled") return 410;
  return code === "generation-conflict" ? 412 : 409;
}
