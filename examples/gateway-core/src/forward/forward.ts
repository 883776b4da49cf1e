import {
  request as httpRequest,
  validateHeaderName,
  validateHeaderValue,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { endToEnd, endToEndFor, pairsOf } from "./end-to-end-headers.js";

/** Where a request is passed on to, by plain HTTP. */
export interface ForwardTarget {
  /** `host` or `host:port`, as the target is called in the request. */
  readonly name: string;
  /** A name or an address; one of IPv6 with its brackets or without. */
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
}

/** Answers in place of the target: 400 for a request that cannot be sent, 502 for an answer that cannot be given. */
export type Refuse = (status: 400 | 502, why: string) => void;

const CONNECT_LIMIT_MS = 10_000;

/**
 * Passes a request on, and its answer back. What Node throws over in an event, where nobody could catch it, is the
 * fault of this one exchange and ends nothing else, whichever side sent it.
 *
 * Each request has a connection of its own: what one sends cannot be read as a part of another. The server that took
 * it must not drop headers that are too many (`maxHeadersCount` 0), or the body's length might be among them.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: ForwardTarget,
  refuse: Refuse,
): void {
  let state: "open" | "answered" | "refused" = "open";
  const fail = (status: 400 | 502, error: unknown): void => {
    if (state === "answered") response.destroy();
    if (state !== "open") return;
    state = "refused";
    refuse(status, error instanceof Error ? error.message : String(error));
  };
  request.on("error", () => response.destroy());
  let onwards: ClientRequest;
  try {
    onwards = requestTo(target, request);
  } catch (error) {
    fail(400, error);
    return;
  }
  onwards.on("error", (error) => fail(502, error));
  onwards.once("upgrade", (_answer, socket: Socket) => {
    socket.destroy();
    fail(502, "another protocol was begun");
  });
  onwards.once("response", (answer) => {
    try {
      begin(response, answer);
    } catch (error) {
      fail(502, error);
      onwards.destroy();
      return;
    }
    state = "answered";
    answer.once("error", () => response.destroy());
    answer.pipe(response);
  });
  response.once("close", () => onwards.destroy());
  request.pipe(onwards);
}

/** @throws Error for what cannot be sent. The headers are written here, so that no later write can throw over them. */
function requestTo({ name, host, port, path }: ForwardTarget, request: IncomingMessage): ClientRequest {
  const onwards = httpRequest({
    host: host.replace(/^\[|\]$/g, ""),
    port,
    path,
    method: request.method ?? "GET",
    headers: endToEndFor(name, request.rawHeaders),
    agent: false,
  });
  onwards.setTimeout(CONNECT_LIMIT_MS);
  onwards.once("socket", (socket: Socket) => socket.once("connect", () => onwards.setTimeout(0)));
  onwards.once("timeout", () => onwards.destroy(new Error("no connection in time")));
  return onwards;
}

/**
 * @throws Error for an answer that no server may give. It is looked at first: what `writeHead` throws over half-way
 *   stays behind in the response that tells of it.
 */
function begin(response: ServerResponse, answer: IncomingMessage): void {
  const { statusCode = 0, statusMessage = "" } = answer;
  if (statusCode < 200) throw new RangeError(`the answer's status is ${statusCode}`);
  validateHeaderValue("status text", statusMessage);
  const { httpVersionMajor: major, httpVersionMinor: minor } = response.req;
  const headers = major === 1 && minor === 0 ? decoded(answer) : endToEnd(answer.rawHeaders);
  for (const [name, value] of pairsOf(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
  response.writeHead(statusCode, statusMessage, headers);
}

/**
 * Headers for a client of HTTP/1.0, which knows no transfer coding: a body without a length ends with its connection.
 *
 * @throws Error where more than Node itself takes apart is to be decoded.
 */
function decoded({ rawHeaders, headers }: IncomingMessage): string[] {
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    throw new Error(`HTTP/1.0 has no transfer coding ${coding}`);
  return pairsOf(endToEnd(rawHeaders))
    .filter(([name]) => name.toLowerCase() !== "transfer-encoding")
    .flat();
}
