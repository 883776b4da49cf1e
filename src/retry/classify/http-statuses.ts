import {
  permanentEntry as permanent,
  suspectEntry as suspect,
  transientEntry as transient,
  type ClassificationTable,
  type TableEntry,
} from "./entry.js";

const EDGE = "The proxy before the server cannot reach it for now";
const REJECTED = "The server understood the request and rejects it: the same request gets the same answer";
const NO_ROUTE = "No route: an ingress before the server may not know it yet";
const CONFLICT = "A conflict or a lock, which may pass";
const CANNOT = "The server cannot do this, now or later";
const EDGE_TLS = "The proxy before the server could not verify its certificate";

/**
 * HTTP statuses with a row of their own; `httpEntry` has the rule for the others.
 *
 * @public
 */
export const httpStatuses: ClassificationTable = Object.freeze({
  401: permanent("authentication", "The credentials are missing, wrong or out of date"),
  403: permanent("authorization", "The server knows who asks, and refuses"),
  404: suspect("server", NO_ROUTE),
  405: suspect("server", NO_ROUTE),
  407: permanent("configuration", "The proxy wants credentials of its own"),
  408: transient("timeout", "The server did not get the request in time"),
  409: suspect("server", CONFLICT),
  421: transient("server", "The request reached another server: the next connection may not"),
  423: suspect("server", CONFLICT),
  424: suspect("server", CONFLICT),
  425: transient("server", "Too early: the same request is welcome after the handshake"),
  429: transient("resource", "Too many requests"),
  500: suspect("server", "The server failed; some configuration errors show like this"),
  501: permanent("server", CANNOT),
  502: transient("server", EDGE),
  503: transient("server", "The server does not serve yet, or not now"),
  504: transient("server", EDGE),
  505: permanent("server", CANNOT),
  506: permanent("server", CANNOT),
  507: suspect("resource", "The server is out of storage"),
  508: permanent("server", CANNOT),
  510: permanent("server", CANNOT),
  511: permanent("configuration", "A captive network wants a login first"),
  520: transient("server", EDGE),
  521: transient("server", EDGE),
  522: transient("server", EDGE),
  523: transient("server", EDGE),
  524: transient("server", EDGE),
  525: permanent("tls", EDGE_TLS),
  526: permanent("tls", EDGE_TLS),
  529: transient("resource", "The server is overloaded"),
  530: suspect("server", EDGE),
  598: transient("timeout", EDGE),
  599: transient("timeout", EDGE),
});

/** 403 from a server that limits the rate rather than the rights. */
export const rateLimited = transient("resource", "The server limits the rate, and not the rights");

const rejected = permanent("configuration", REJECTED);
const redirected = permanent("configuration", "The server sends elsewhere: the address is wrong");
const notTheAnswer = suspect(
  "server",
  "A success that is not the answer: a captive network, or half started",
);
const unknownServer = suspect("server", "The server failed in a way that no table names");

/** The row of an HTTP status, or `undefined` when the number is none. */
export function httpEntry(status: number): TableEntry | undefined {
  if (!Number.isInteger(status) || status < 100 || status > 599) return undefined;
  const row = Object.hasOwn(httpStatuses, status) ? httpStatuses[status] : undefined;
  if (row !== undefined) return row;
  if (status < 300) return notTheAnswer;
  if (status < 400) return redirected;
  return status < 500 ? rejected : unknownServer;
}
