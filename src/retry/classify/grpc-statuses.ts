import {
  permanentEntry as permanent,
  suspectEntry as suspect,
  transientEntry as transient,
  type TableEntry,
} from "./entry.js";

const REJECTED = "The server understood the call and rejects it: the same call gets the same answer";

/** Names of the gRPC status codes, by number. */
export const grpcStatusNames = Object.freeze([
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const);

/**
 * The name of a gRPC status, for instance `UNAVAILABLE`.
 *
 * @public
 */
export type GrpcStatusName = (typeof grpcStatusNames)[number];

/**
 * gRPC statuses, after a look inside UNAVAILABLE for TLS failures.
 *
 * @public
 */
export const grpcStatuses: Readonly<Record<GrpcStatusName, TableEntry>> = Object.freeze({
  OK: permanent("program", "Success was thrown as a failure"),
  CANCELLED: transient("network", "The server reset the stream; no signal of the caller was aborted"),
  UNKNOWN: suspect("server", "A proxy answered for the server, or the server failed without saying how"),
  INVALID_ARGUMENT: permanent("configuration", REJECTED),
  DEADLINE_EXCEEDED: transient(
    "timeout",
    "This call ran out of time; a client that waits for readiness hides why",
  ),
  NOT_FOUND: permanent("configuration", REJECTED),
  ALREADY_EXISTS: permanent("configuration", REJECTED),
  PERMISSION_DENIED: permanent("authorization", "The server knows who asks, and refuses"),
  RESOURCE_EXHAUSTED: suspect("resource", "A quota that may be used up for good: the server names no time"),
  FAILED_PRECONDITION: permanent("configuration", "The server's state must be repaired first"),
  ABORTED: suspect("server", "The call lost a conflict; the same call may win the next"),
  OUT_OF_RANGE: permanent("configuration", REJECTED),
  UNIMPLEMENTED: suspect(
    "server",
    "The method is missing: a rolling upgrade, or an ingress without a route yet",
  ),
  INTERNAL: suspect(
    "server",
    "The server, or a proxy before it, broke; some configuration errors show like this",
  ),
  UNAVAILABLE: transient("network", "The server cannot be reached, or does not serve yet"),
  DATA_LOSS: permanent("server", "The server lost data: no repetition brings it back"),
  UNAUTHENTICATED: permanent("authentication", "The credentials are missing, wrong or out of date"),
});

/** RESOURCE_EXHAUSTED where the server says when to come back. */
export const exhaustedWithHint = transient("resource", "The server is busy and says when to come back");
/** UNAVAILABLE for an address that no resolver can read. */
export const unreadableTarget = permanent("configuration", "The address of the server cannot be read as one");
/** UNKNOWN from the client's own credentials, before anything was sent. */
export const credentialsPlugin = suspect(
  "authentication",
  "The client's own credentials could not be had: a token file may not be there yet",
);
/** The server asked, by pushback, not to be called again. */
export const pushedBack = permanent("server", "The server asks not to be called again");
