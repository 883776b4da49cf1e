import {
  lookUp,
  permanentEntry as permanent,
  suspectEntry as suspect,
  transientEntry as transient,
  type TableEntry,
} from "./entry.js";
import { strong, type Finding } from "./finding.js";
import { readText } from "./inspect.js";
import { connectCodes, fileCodes, localCodes, missingAuthority } from "./local-codes.js";
import { networkCodes } from "./network-codes.js";
import { tlsEntry } from "./tls-codes.js";
import { tlsCodeIn } from "./tls-phrases.js";

/** Families of codes, for members that no table names. */
const FAMILIES: readonly (readonly [prefix: string, entry: TableEntry])[] = [
  ["ERR_INVALID_ARG_", permanent("program", "A call of the program is given what it cannot take")],
  ["HPE_", suspect("server", "The answer is not HTTP: another service on this port, or half started")],
  ["ERR_HTTP2_", suspect("server", "HTTP/2 failed in a way that no table names")],
  ["UND_ERR_", suspect("server", "The HTTP client failed in a way that no table names")],
];

const refusedStream = transient("network", "The server refused the stream before it looked at it");

/** What the string code of Node, undici, c-ares or OpenSSL on an error means. */
export function findNodeCode(error: unknown): Finding | undefined {
  const code = readText(error, "code");
  if (code === undefined) return undefined;
  const text = readText(error, "message") ?? "";
  // Codes that stand for several failures: the text has the one.
  if (code === "EPROTO" || code === "UNSPECIFIED") {
    const tls = tlsCodeIn(text);
    const entry = tls === undefined ? undefined : tlsEntry(tls);
    if (tls !== undefined && entry !== undefined) return strong(tls, entry);
  }
  if (code === "ERR_HTTP2_STREAM_ERROR" && text.includes("REFUSED_STREAM"))
    return strong(code, refusedStream);
  const entry =
    pathEntry(code, error) ?? tlsEntry(code) ?? lookUp(networkCodes, code) ?? lookUp(localCodes, code);
  const found = entry ?? FAMILIES.find(([prefix]) => code.startsWith(prefix))?.[1];
  return found === undefined ? undefined : strong(code, found);
}

/** Codes that say "not there" or "not allowed": what they mean depends on what was tried. */
function pathEntry(code: string, error: unknown): TableEntry | undefined {
  if (readText(error, "syscall") === "connect") return lookUp(connectCodes, code);
  const entry = lookUp(fileCodes, code);
  return entry !== undefined && isAuthorityFile(readText(error, "path") ?? "") ? missingAuthority : entry;
}

const SECRET_NAME = /(?:^|[^a-z])(?:key|token|jwt|password|secret)s?(?:[^a-z]|$)/;
const AUTHORITY_NAME = /(?:^|[^a-z])(?:ca|cas|cacerts?|roots?|trust|truststore|anchors?|bundle)(?:[^a-z]|$)/;
const CERTIFICATE_NAME = /\.(?:crt|cer|pem|der|p7b|ca-bundle)$/;

/** Whether a path names certificates rather than a secret that is projected or rotated while the process runs. */
function isAuthorityFile(path: string): boolean {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase();
  if (SECRET_NAME.test(name)) return false;
  return AUTHORITY_NAME.test(name) || CERTIFICATE_NAME.test(name);
}
