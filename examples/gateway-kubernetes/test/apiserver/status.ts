import type { JsonObject } from "./object.js";

/** One reason why a request was refused, as `details.causes` carries it. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
  readonly uid?: string | undefined;
  readonly causes?: readonly Cause[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** What a resource is called in messages: `sandboxes.agents.x-k8s.io`. */
export interface GroupResource {
  readonly group: string;
  readonly plural: string;
}

/** A refusal with the `Status` body that goes out for it. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  /** `metadata.continue` of the answer to an expired continue token. */
  readonly continueToken: string | undefined;

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: StatusDetails,
    continueToken?: string,
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.continueToken = continueToken;
  }

  body(): JsonObject {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: "Failure",
      message: this.message,
      ...(this.reason === "" ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: plain(this.details) }),
      code: this.code,
    };
  }
}

function plain(details: StatusDetails): JsonObject {
  return JSON.parse(JSON.stringify(details)) as JsonObject;
}

export function qualified(of: GroupResource): string {
  return of.group === "" ? of.plural : `${of.plural}.${of.group}`;
}

function detailsOf(of: GroupResource, name: string): StatusDetails {
  return {
    ...(name === "" ? {} : { name }),
    ...(of.group === "" ? {} : { group: of.group }),
    kind: of.plural,
  };
}

export function notFound(of: GroupResource, name: string): ApiError {
  return new ApiError(404, "NotFound", `${qualified(of)} "${name}" not found`, detailsOf(of, name));
}

/** The answer to a path that nothing serves: plain text, without a Status. */
export class NoSuchPath extends Error {}

/** A failure that a real server lets through without a reason: its storage's own error. */
export function storageError(message: string): ApiError {
  return new ApiError(500, "", message);
}

export function alreadyExists(of: GroupResource, name: string): ApiError {
  const message = `${qualified(of)} "${name}" already exists`;
  return new ApiError(409, "AlreadyExists", message, detailsOf(of, name));
}

export function conflict(of: GroupResource, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(of)} "${name}": ${why}`;
  return new ApiError(409, "Conflict", message, detailsOf(of, name));
}

export const MODIFIED =
  "the object has been modified; please apply your changes to the latest version and try again";

export function forbidden(of: GroupResource, name: string, why: string, causes?: readonly Cause[]): ApiError {
  const what = name === "" ? qualified(of) : `${qualified(of)} "${name}"`;
  return new ApiError(403, "Forbidden", `${what} is forbidden: ${why}`, { ...detailsOf(of, name), causes });
}

/** 422: `kind` is the kind for a broken object, the plural for a broken request. */
export function invalid(group: string, kind: string, name: string, causes: readonly Cause[]): ApiError {
  const texts = causes.map((cause) => `${cause.field ?? ""}: ${cause.message}`);
  const told = texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
  const full = group === "" ? kind : `${kind}.${group}`;
  return new ApiError(422, "Invalid", `${full} "${name}" is invalid: ${told}`, {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    kind,
    causes,
  });
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, "BadRequest", message);
}

export function expired(message: string, continueToken?: string): ApiError {
  return new ApiError(410, "Expired", message, undefined, continueToken);
}

export function tooLargeVersion(asked: number, current: number): ApiError {
  return new ApiError(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

/** 422 for a query or an options body, whose kind is `ListOptions` or `DeleteOptions`. */
export function invalidOptions(kind: string, field: string, message: string): ApiError {
  const reason = message.startsWith("Forbidden")
    ? "FieldValueForbidden"
    : message.startsWith("Unsupported")
      ? "FieldValueNotSupported"
      : "FieldValueInvalid";
  return invalid("meta.k8s.io", kind, "", [{ reason, field, message }]);
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  return new ApiError(415, "UnsupportedMediaType", message);
}

export function tooLarge(message: string): ApiError {
  return new ApiError(413, "RequestEntityTooLarge", message);
}
