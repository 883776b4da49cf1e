import {
  permanentEntry as permanent,
  suspectEntry as suspect,
  transientEntry as transient,
  type ClassificationTable,
} from "./entry.js";

const RESTARTING = "The peer dropped the connection, as one that restarts does";
const NOBODY = "Nobody listens yet: the usual race at start-up";
const RESOLVER = "The name server could not answer for now";
const MALFORMED_NAME = "The name, or the request for it, is malformed: no answer can come";
const UNROUTED = "Routes, the pod network or a tunnel are not set up yet";
const LOCAL_PRESSURE = "This host is short of a resource: backing off relieves it";
const TOO_SLOW = "The peer did not answer in time";

/**
 * Codes of sockets, resolvers and HTTP clients: libuv, c-ares, Node and undici.
 *
 * @public
 */
export const networkCodes: ClassificationTable = Object.freeze({
  ECONNREFUSED: transient("network", NOBODY),
  ECONNRESET: transient(
    "network",
    `${RESTARTING}. A server that refuses the client certificate after a TLS 1.3 handshake may look the same`,
  ),
  ECONNABORTED: transient("network", RESTARTING),
  EPIPE: transient("network", RESTARTING),
  ENOTCONN: transient("network", RESTARTING),
  ESHUTDOWN: transient("network", RESTARTING),
  UND_ERR_SOCKET: transient("network", RESTARTING),
  ERR_STREAM_PREMATURE_CLOSE: transient("network", `${RESTARTING}, in the middle of a body`),
  ERR_SOCKET_CLOSED_BEFORE_CONNECTION: transient("network", RESTARTING),
  // Bun's own words.
  ConnectionRefused: transient("network", NOBODY),
  FailedToOpenSocket: transient("network", NOBODY),
  ConnectionClosed: transient("network", RESTARTING),
  ConnectionReset: transient("network", RESTARTING),
  ETIMEDOUT: transient("timeout", TOO_SLOW),
  ESOCKETTIMEDOUT: transient("timeout", TOO_SLOW),
  ERR_SOCKET_CONNECTION_TIMEOUT: transient("timeout", TOO_SLOW),
  ERR_HTTP_REQUEST_TIMEOUT: transient("timeout", TOO_SLOW),
  UND_ERR_CONNECT_TIMEOUT: transient("timeout", TOO_SLOW),
  UND_ERR_HEADERS_TIMEOUT: transient("timeout", `${TOO_SLOW}: connected, no headers`),
  UND_ERR_BODY_TIMEOUT: transient("timeout", `${TOO_SLOW}: headers, no body`),
  EHOSTUNREACH: transient("network", UNROUTED),
  ENETUNREACH: transient("network", UNROUTED),
  EHOSTDOWN: transient("network", UNROUTED),
  ENETDOWN: transient("network", UNROUTED),
  ENONET: transient("network", UNROUTED),
  ENETRESET: transient("network", UNROUTED),
  EADDRNOTAVAIL: transient("network", "The source address is not up yet, or ports are used up"),
  EADDRINUSE: suspect("network", "A predecessor still closes its listener, or the address is really taken"),

  EAI_AGAIN: transient("name", RESOLVER),
  ENOTFOUND: transient("name", "The service record may not exist yet; if it stays, the name is misspelt"),
  EAI_NONAME: transient("name", "The service record may not exist yet; if it stays, the name is misspelt"),
  EAI_NODATA: transient("name", "The name exists without an address so far"),
  ENODATA: transient("name", "The name exists without an address so far"),
  ENONAME: transient("name", RESOLVER),
  ESERVFAIL: transient("name", RESOLVER),
  EREFUSED: transient("name", RESOLVER),
  ETIMEOUT: transient("name", RESOLVER),
  EAI_MEMORY: transient("resource", LOCAL_PRESSURE),
  EAI_FAIL: suspect("name", "The resolver gave a final failure, which a restarting one also gives"),
  EBADRESP: suspect("name", "The name server sent what cannot be read"),
  ENOTIMP: suspect("name", "The name server does not know this kind of question"),
  EBADNAME: permanent("configuration", MALFORMED_NAME),
  EFORMERR: permanent("configuration", MALFORMED_NAME),
  EBADQUERY: permanent("configuration", MALFORMED_NAME),
  EBADFAMILY: permanent("configuration", MALFORMED_NAME),
  EAI_BADFLAGS: permanent("configuration", MALFORMED_NAME),
  EAI_FAMILY: permanent("configuration", MALFORMED_NAME),
  EAI_SERVICE: permanent("configuration", MALFORMED_NAME),
  EAI_SOCKTYPE: permanent("configuration", MALFORMED_NAME),

  EAGAIN: transient("resource", LOCAL_PRESSURE),
  EINTR: transient("resource", LOCAL_PRESSURE),
  EBUSY: transient("resource", LOCAL_PRESSURE),
  ENOBUFS: transient("resource", LOCAL_PRESSURE),
  EMFILE: transient("resource", LOCAL_PRESSURE),
  ENFILE: transient("resource", LOCAL_PRESSURE),
  ENOMEM: transient("resource", LOCAL_PRESSURE),

  ECANCELED: suspect("cancellation", "Something cancelled the call, and it was not the caller"),
  UND_ERR_ABORTED: suspect("cancellation", "Something cancelled the request, and it was not the caller"),
  ERR_CANCELED: suspect("cancellation", "Something cancelled the request, and it was not the caller"),
  ABORT_ERR: suspect("cancellation", "Something aborted the call, and it was not the caller"),

  ERR_HTTP2_GOAWAY_SESSION: transient("network", "The peer is about to close its session"),
  ERR_HTTP2_STREAM_CANCEL: transient("network", "The peer cancelled the stream"),
  ERR_HTTP2_SESSION_ERROR: transient("network", "The session broke: the next attempt opens another"),
  ERR_HTTP2_STREAM_ERROR: suspect("server", "The peer reset the stream for a reason of its own"),
  ERR_HTTP2_ERROR: suspect("server", "The peer does not speak HTTP/2, or not yet"),
  ERR_HTTP2_PROTOCOL_ERROR: suspect("server", "The peer does not speak HTTP/2, or not yet"),
  EPROTO: suspect("server", "The peer broke the protocol: another service on this port, or half started"),
  UND_ERR_HEADERS_OVERFLOW: suspect("server", "More headers than an HTTP answer has: another service?"),

  UND_ERR_CLOSED: permanent("program", "The operation's own HTTP client is closed"),
  UND_ERR_DESTROYED: permanent("program", "The operation's own HTTP client is destroyed"),
});
