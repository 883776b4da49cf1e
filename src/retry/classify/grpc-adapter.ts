import { parsePushback, parseRetryAfter } from "../hints.js";
import { lookUp } from "./entry.js";
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
import { read, readEntry, readHeader, readInteger, readText } from "./inspect.js";
import { connectCodes, localCodes } from "./local-codes.js";
import { retryInfoMs } from "./retry-info.js";
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
  const inHeader = retryAfter === undefined ? undefined : (parseRetryAfter(retryAfter, now) ?? undefined);
  const retryAfterMs = inHeader ?? retryInfoMs(error, readEntry(status.metadata, STATUS_DETAILS));
  return inside(status, { pushbackMs, retryAfterMs });
}

/** A look at what hides behind a status before the table is asked. */
function inside({ name, details }: Status, hints: Hints): Finding {
  if (name === "UNAVAILABLE") {
    const hidden = insideUnavailable(details);
    if (hidden !== undefined) return hidden;
  }
  if (name === "UNKNOWN" && /getting metadata from plugin failed/i.test(details))
    return strong(name, credentialsPlugin);
  const hinted = hints.pushbackMs !== undefined || hints.retryAfterMs !== undefined;
  if (name === "RESOURCE_EXHAUSTED" && hinted) return strong(name, exhaustedWithHint, hints);
  return strong(name, grpcStatuses[name], hints);
}

/** The trailer with the status in full. */
const STATUS_DETAILS = "grpc-status-details-bin";

/** Node's and c-ares' codes, as they stand in the text of the last connection error. */
const CODE = /\b(?:E[A-Z0-9]{3,}|ERR_[A-Z0-9_]+)\b/g;

/** The client reports every failure to connect as UNAVAILABLE, with the real one in words. */
function insideUnavailable(details: string): Finding | undefined {
  const tls = tlsCodeIn(details);
  const tlsRow = tls === undefined ? undefined : tlsEntry(tls);
  if (tls !== undefined && tlsRow !== undefined) return strong(tls, tlsRow);
  if (isUnreadableTarget(details)) return strong("UNAVAILABLE", unreadableTarget);
  for (const code of details.match(CODE) ?? []) {
    const row = lookUp(localCodes, code) ?? (code === "ENOENT" ? undefined : lookUp(connectCodes, code));
    if (row !== undefined) return strong(code, row);
  }
  return undefined;
}

const UNREADABLE =
  /failed to parse \w+ address|could not parse target|(?:no resolver could be created|could not (?:find a resolver|get a default scheme)) for target/i;

/** An address with a scheme of another protocol, or with two ports, is looked up like a name and never found. A `dns:` target may name its server. */
function isUnreadableTarget(details: string): boolean {
  if (UNREADABLE.test(details)) return true;
  const target = /name resolution failed for target (?:dns:(?:\/\/[^/\s]*\/)?)?(?<name>\S*)/i.exec(details)
    ?.groups?.["name"];
  return target !== undefined && (target.includes("/") || target.split(":").length > 2);
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
  // grpc-web, which has the details in the message.
  if (isObject && readText(error, "name") === "RpcError")
    return { name, details: readText(error, "message") ?? "", metadata };
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
