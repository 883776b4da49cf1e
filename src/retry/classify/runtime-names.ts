import {
  permanentEntry as permanent,
  suspectEntry as suspect,
  transientEntry as transient,
  type ClassificationTable,
  type TableEntry,
} from "./entry.js";

const NOBODY = "Nobody listens yet: the usual race at start-up";
const RESTARTING = "The peer dropped the connection, as one that restarts does";
const UNROUTED = "The network, or the name, is not there yet";
const TOO_SLOW = "The peer did not answer in time";
const ELSEWHERE = "The server sends elsewhere: the address is wrong";

export const badRequest = permanent(
  "configuration",
  "The request failed before any network: its address or options are wrong",
);
export const opaqueFetch = suspect("network", "The browser does not say why the request failed");

/**
 * Names that Deno gives to failures of the system.
 */
export const runtimeNames: ClassificationTable = Object.freeze({
  ConnectionRefused: transient("network", NOBODY),
  ConnectionReset: transient("network", RESTARTING),
  ConnectionAborted: transient("network", RESTARTING),
  BrokenPipe: transient("network", RESTARTING),
  NotConnected: transient("network", RESTARTING),
  UnexpectedEof: transient("network", RESTARTING),
  TimedOut: transient("timeout", TOO_SLOW),
  NetworkUnreachable: transient("network", UNROUTED),
  AddrNotAvailable: transient("network", "The source address is not up yet, or ports are used up"),
  AddrInUse: suspect("network", "A predecessor still closes its listener, or the address is really taken"),
  Interrupted: transient("resource", "The call was interrupted"),
  WouldBlock: transient("resource", "The call would have to wait"),
});

/**
 * The `type` of a FetchError, where there is no code.
 */
export const fetchTypes: ClassificationTable = Object.freeze({
  "request-timeout": transient("timeout", TOO_SLOW),
  "body-timeout": transient("timeout", TOO_SLOW),
  "max-redirect": permanent("configuration", ELSEWHERE),
  "no-redirect": permanent("configuration", ELSEWHERE),
  "invalid-redirect": permanent("configuration", ELSEWHERE),
  "unsupported-redirect": permanent("configuration", ELSEWHERE),
});

/**
 * A TypeError that is no mistake of the program: what the runtimes say of a request that failed on the network. Some
 * keep the cause to themselves.
 */
export const fetchTexts: readonly (readonly [text: RegExp, entry: TableEntry])[] = Object.freeze([
  // undici
  [/^terminated$/, transient("network", "The body ended before its end: the peer restarts")],
  // WebKit says why.
  [/^The Internet connection appears to be offline\.$/, transient("network", UNROUTED)],
  [/^A server with the specified hostname could not be found\.$/, transient("name", UNROUTED)],
  [/^Could not connect to the server\.$/, transient("network", NOBODY)],
  [/^The network connection was lost\.$/, transient("network", RESTARTING)],
  [/^The request timed out\.$/, transient("timeout", TOO_SLOW)],
  // Deno says why in the chain of texts that follows.
  [/^error sending request.*connection refused/i, transient("network", NOBODY)],
  [/^error sending request.*(?:dns error|unreachable)/i, transient("network", UNROUTED)],
  [
    /^error sending request.*(?:connection reset|connection closed|broken pipe)/i,
    transient("network", RESTARTING),
  ],
  [/^error sending request.*(?:timed out|timeout)/i, transient("timeout", TOO_SLOW)],
  [/^error sending request/i, opaqueFetch],
  [/^error reading a body from connection/i, transient("network", RESTARTING)],
  // Chrome, Firefox, WebKit, React Native; some name the host after it.
  [/^(?:Failed to fetch|Load failed)(?: \(.*\))?$/, opaqueFetch],
  [/^NetworkError when attempting to fetch resource\.?$/, opaqueFetch],
  [
    /^(?:Network request failed|network error|Error in input stream|A network error occurred\.?)$/i,
    opaqueFetch,
  ],
]);
