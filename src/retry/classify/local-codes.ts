import { permanentEntry as permanent, suspectEntry as suspect, type ClassificationTable } from "./entry.js";

const WRONG_CALL = "The address, or an option of the call, is not valid: it stays so";
const NOT_SUPPORTED = "This host cannot do what the configuration asks for";
const IN_CIRCLES = "The server sends elsewhere again and again: the address is wrong";
const BAD_ADDRESS = "The address cannot be read as one";

/**
 * Codes of calls that cannot work as they are configured or written.
 *
 * @public
 */
export const localCodes: ClassificationTable = Object.freeze({
  EINVAL: permanent("configuration", WRONG_CALL),
  EAFNOSUPPORT: permanent("configuration", NOT_SUPPORTED),
  EPROTONOSUPPORT: permanent("configuration", NOT_SUPPORTED),
  EPROTOTYPE: permanent("configuration", NOT_SUPPORTED),
  ENOSYS: permanent("configuration", NOT_SUPPORTED),
  ENOTSUP: permanent("configuration", NOT_SUPPORTED),
  EOPNOTSUPP: permanent("configuration", NOT_SUPPORTED),
  ENOPROTOOPT: permanent("configuration", NOT_SUPPORTED),
  ENOTSOCK: permanent("configuration", WRONG_CALL),
  EISCONN: permanent("configuration", WRONG_CALL),
  EDESTADDRREQ: permanent("configuration", WRONG_CALL),
  EMSGSIZE: permanent("configuration", WRONG_CALL),
  ENAMETOOLONG: permanent("configuration", "The path is too long; a socket path ends at 107 bytes"),
  ELOOP: permanent("configuration", "The path runs in a circle of links"),
  ERR_INVALID_URL: permanent("configuration", BAD_ADDRESS),
  ERR_INVALID_PROTOCOL: permanent("configuration", BAD_ADDRESS),
  ERR_INVALID_ADDRESS: permanent("configuration", BAD_ADDRESS),
  ERR_INVALID_IP_ADDRESS: permanent("configuration", BAD_ADDRESS),
  ERR_INVALID_ADDRESS_FAMILY: permanent("configuration", BAD_ADDRESS),
  ERR_SOCKET_BAD_PORT: permanent("configuration", BAD_ADDRESS),
  ERR_UNESCAPED_CHARACTERS: permanent("configuration", BAD_ADDRESS),
  ERR_INVALID_CHAR: permanent("configuration", "A header carries a character that HTTP does not allow"),
  ERR_INVALID_HTTP_TOKEN: permanent("configuration", "A header or method is not an HTTP token"),
  ERR_UNSUPPORTED_PROTOCOL: permanent("configuration", BAD_ADDRESS),
  ERR_TOO_MANY_REDIRECTS: permanent("configuration", IN_CIRCLES),
  ERR_FR_TOO_MANY_REDIRECTS: permanent("configuration", IN_CIRCLES),
  TooManyRedirects: permanent("configuration", IN_CIRCLES),
  ERR_BAD_OPTION: permanent("program", WRONG_CALL),
  ERR_BAD_OPTION_VALUE: permanent("program", WRONG_CALL),
  ERR_NOT_SUPPORT: permanent("program", WRONG_CALL),
  UND_ERR_INVALID_ARG: permanent("program", WRONG_CALL),
  UND_ERR_INVALID_RETURN_VALUE: permanent("program", WRONG_CALL),
  UND_ERR_NOT_SUPPORTED: permanent("program", WRONG_CALL),
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: permanent("program", WRONG_CALL),
  ERR_ASSERTION: permanent("program", "The operation's own assertion failed"),
  ERR_MODULE_NOT_FOUND: permanent("configuration", "A module of the program is not installed"),
  MODULE_NOT_FOUND: permanent("configuration", "A module of the program is not installed"),
});

/**
 * Files that the operation reads: credentials are often projected a moment after the start.
 *
 * @public
 */
export const fileCodes: ClassificationTable = Object.freeze({
  ENOENT: suspect("configuration", "The file is not there; a projected token or key may appear shortly"),
  EACCES: suspect("configuration", "The file may not be read; its owner or mode may still be changing"),
  EPERM: suspect("configuration", "The file may not be read; its owner or mode may still be changing"),
  EISDIR: suspect("configuration", "A directory is where the file should be; a mount may still be missing"),
  ENOTDIR: suspect("configuration", "A file is where a directory should be; a mount may still be missing"),
});

/**
 * Connections over a path or through a local rule, where the same codes mean something else than for files.
 *
 * @public
 */
export const connectCodes: ClassificationTable = Object.freeze({
  ENOENT: { verdict: "transient", kind: "network", explanation: "The socket is not there yet" },
  EACCES: suspect("authorization", "The socket's mode, or a rule of this host, forbids to connect for now"),
  EPERM: suspect("authorization", "The socket's mode, or a rule of this host, forbids to connect for now"),
});

/** A certificate authority that cannot be read is configuration: nothing is verified without it, so nothing runs. */
export const missingAuthority = permanent(
  "configuration",
  "The certificates to verify the peer with cannot be read. Verification is never skipped",
);
