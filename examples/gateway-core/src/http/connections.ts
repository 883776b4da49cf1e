import type { Server } from "node:http";
import type { Socket } from "node:net";
import { errorBody } from "./errors.js";
import { addressOf } from "./peer.js";

/** How many connections may be open at the same time. */
export interface ConnectionLimits {
  /** From one address; of IPv6 from one network. */
  readonly perAddress: number;
  /** From all addresses together. */
  readonly all: number;
}

/** Far above what supervisors and users of one gateway hold, and below what a process may have open on most systems. */
export const DEFAULT_CONNECTIONS: ConnectionLimits = { perAddress: 5000, all: 10_000 };

/**
 * Beyond a limit so many more are let in for one answer, so that who looks after the gateway still reaches it, and so
 * many of one address at most, whichever limit it is: one that fills the gateway up does not take all of these as well.
 */
const SPARE_PER_ADDRESS = 16;
const SPARE = 64;
/** So long one of those may last, whatever it does. */
const SPARE_MS = 10_000;
const RETRY_AFTER_SECONDS = "5";

/** What is answered on a connection beyond the limit: whether the gateway lives, whether it is ready, and what it counts. */
const ALWAYS = new Set(["/healthz", "/readyz", "/metrics"]);

export type ConnectionLimit = keyof ConnectionLimits;

/** What is open. `spareOfAddress` counts those of the address that were let in beyond a limit, `ofAddress` these as well. */
export interface OpenConnections {
  readonly ofAddress: number;
  readonly spareOfAddress: number;
  readonly all: number;
}

/** Whether one more connection is let in, let in for one answer, or closed. Pure. */
export function admission(
  open: OpenConnections,
  { perAddress, all }: ConnectionLimits,
): { readonly limit: ConnectionLimit | null; readonly isClosed: boolean } {
  // An address that has too many is told so, and not that the gateway is busy.
  const isTooMany = open.ofAddress >= perAddress;
  if (!isTooMany && open.all < all) return { limit: null, isClosed: false };
  const isClosed = open.spareOfAddress >= SPARE_PER_ADDRESS || open.all >= all + SPARE;
  return { limit: isTooMany ? "perAddress" : "all", isClosed };
}

/** Counts the connections of a server, and lets in no more than may be. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #onRefused: (limit: ConnectionLimit) => void;
  readonly #byAddress = new Map<string, { open: number; spare: number }>();
  /** Those beyond a limit, by both ends: with TLS a request has another object for the same connection. */
  readonly #spare = new Map<string, { readonly limit: ConnectionLimit }>();
  #all = 0;

  /** @param onRefused - Called for each connection beyond a limit. */
  constructor(limits: ConnectionLimits, onRefused: (limit: ConnectionLimit) => void = () => undefined) {
    this.#limits = limits;
    this.#onRefused = onRefused;
  }

  get size(): number {
    return this.#all;
  }

  get addresses(): number {
    return this.#byAddress.size;
  }

  watch(server: Server): void {
    server.on("connection", (socket: Socket) => this.#enter(socket));
  }

  /** The same requests to the server, without those on connections that are there for a look at the gateway alone. */
  guard(
    answer: (request: Request, env: unknown) => Promise<Response>,
  ): (request: Request, env: unknown) => Promise<Response> {
    return async (request, env) => {
      const limit = this.#limitOf(env);
      if (limit === null) return answer(request, env);
      const { pathname } = new URL(request.url);
      const response = ALWAYS.has(pathname) ? await answer(request, env) : refusal(limit);
      response.headers.set("connection", "close");
      return response;
    };
  }

  #enter(socket: Socket): void {
    const address = addressOf(socket.remoteAddress ?? "");
    const counted = this.#byAddress.get(address) ?? { open: 0, spare: 0 };
    const open = { ofAddress: counted.open, spareOfAddress: counted.spare, all: this.#all };
    const { limit, isClosed } = admission(open, this.#limits);
    if (limit !== null) this.#onRefused(limit);
    if (isClosed) {
      socket.destroy();
      return;
    }
    this.#byAddress.set(address, counted);
    counted.open += 1;
    this.#all += 1;
    const leave = limit === null ? () => undefined : this.#enterSpare(socket, limit, counted);
    socket.once("close", () => {
      leave();
      this.#all -= 1;
      counted.open -= 1;
      if (counted.open === 0) this.#byAddress.delete(address);
    });
  }

  #enterSpare(socket: Socket, limit: ConnectionLimit, counted: { spare: number }): () => void {
    const key = keyOf(socket);
    const entry = { limit };
    this.#spare.set(key, entry);
    counted.spare += 1;
    const impatience = setTimeout(() => socket.destroy(), SPARE_MS).unref();
    return () => {
      clearTimeout(impatience);
      counted.spare -= 1;
      // The next one of the same ends may have come before the end of this one was told.
      if (this.#spare.get(key) === entry) this.#spare.delete(key);
    };
  }

  #limitOf(env: unknown): ConnectionLimit | null {
    const { incoming } = (env ?? {}) as { incoming?: { socket?: Socket } };
    const socket = incoming?.socket;
    return socket === undefined ? null : (this.#spare.get(keyOf(socket))?.limit ?? null);
  }
}

function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function refusal(limit: ConnectionLimit): Response {
  const headers = { "retry-after": RETRY_AFTER_SECONDS };
  return limit === "perAddress"
    ? Response.json(errorBody("too-many-open", "this address holds as many connections as it may"), {
        status: 429,
        headers,
      })
    : Response.json(errorBody("busy", "the gateway holds as many connections as it may"), {
        status: 503,
        headers,
      });
}
