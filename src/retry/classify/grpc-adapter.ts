import { parsePushback, parseRetryAfter } from "../hints.js";
import { strong, type Finding, type Hints } from "./finding.js";
import {
  credentialsPlugin,
  exhaustedWithHint,
  grpcStatuses,
  grpcStatusNames,
  pushedBack,
  unreadableTarget,
  type GrpcStatusName,
} from "./grpc-statuses.js";
import { read, readHeader, readInteger, readText } from "./inspect.js";
import { tlsEntry } from "./tls-codes.js";
import { tlsCodeIn } from "./tls-phrases.js";

/** A gRPC status as a client library throws it. */
interface Status {
  readonly name: GrpcStatusName;
  readonly details: string;
  readonly metadata: unknown;
}

/** What a gRPC or Connect error means, or `undefined` for anything else. */
export function findGrpcStatus(error: unknown, now: number | undefined): Finding | undefined {
  const status = readStatus(error);
  if (status === undefined) return undefined;
  const pushback = readHeader(status.metadata, "grpc-retry-pushback-ms");
  const pushbackMs = pushback === undefined ? undefined : parsePushback(pushback);
  if (pushbackMs === "stop") return strong(status.name, pushedBack);
  const retryAfter = readHeader(status.metadata, "retry-after");
  const retryAfterMs = retryAfter === undefined ? undefined : (parseRetryAfter(retryAfter, now) ?? undefined);
  return inside(status, { pushbackMs, retryAfterMs });
}

/** A look at what hides behind a status before the table is asked. */
function inside({ name, details }: Status, hints: Hints): Finding {
  if (name === "UNAVAILABLE") {
    const tls = tlsCodeIn(details);
    const entry = tls === undefined ? undefined : tlsEntry(tls);
    if (tls !== undefined && entry !== undefined) return strong(tls, entry);
    if (/failed to parse (?:dns )?address|could not parse target/i.test(details))
      return strong(name, unreadableTarget);
  }
  if (name === "UNKNOWN" && /getting metadata from plugin failed/i.test(details))
    return strong(name, credentialsPlugin);
  const hinted = hints.pushbackMs !== undefined || hints.retryAfterMs !== undefined;
  if (name === "RESOURCE_EXHAUSTED" && hinted) return strong(name, exhaustedWithHint, hints);
  return strong(name, grpcStatuses[name], hints);
}

/**
 * A number alone is no gRPC status: legacy codes of DOM exceptions and exit codes are numbers too. It is one on an
 * error that also has what a gRPC client puts there.
 */
function readStatus(error: unknown): Status | undefined {
  const number = readInteger(error, "code");
  const details = readText(error, "details");
  const metadata = read(error, "metadata");
  if (number === undefined) return readNamedStatus(error);
  const name = grpcStatusNames[number];
  if (name === undefined) return undefined;
  const isObject = typeof metadata === "object" && metadata !== null;
  if (details !== undefined && (isObject || readText(error, "path") !== undefined))
    return { name, details, metadata };
  const raw = readText(error, "rawMessage");
  if (raw !== undefined && (isObject || readText(error, "name") === "ConnectError"))
    return { name, details: raw, metadata };
  return undefined;
}

/** Clients that give the status by name. */
function readNamedStatus(error: unknown): Status | undefined {
  const code = readText(error, "code");
  const name = grpcStatusNames.find((known) => known === code);
  if (name === undefined) return undefined;
  const details = readText(error, "details") ?? readText(error, "message") ?? "";
  return { name, details, metadata: read(error, "metadata") ?? read(error, "meta") };
}
