import { systemClock, type Clock } from "slipway";
import type { Hono } from "hono";
import type { Server, ServerResponse } from "node:http";
import { errorBody } from "./errors.js";

/**
 * What stands between a listening port and the gateway behind it, which comes later and goes earlier. Before there is
 * one, requests wait for it, since supervisors are told the address first; when it ends, what is under way is finished
 * and nothing new is begun.
 */
export class FrontDoor {
  readonly #closing = new AbortController();
  readonly #app: Promise<Hono>;
  #open: ((app: Hono) => void) | null = null;
  #isOpen = false;

  constructor() {
    this.#app = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** Aborts when the gateway ends. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  open(app: Hono): void {
    this.#isOpen = true;
    this.#open?.(app);
  }

  readonly fetch = async (request: Request, env: unknown): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const early = this.#answerProbe(pathname);
    if (early !== null) return early;
    if (this.#closing.signal.aborted && pathname !== "/healthz") {
      const headers = { connection: "close", "retry-after": "1" };
      return Response.json(errorBody("shutting-down", "the gateway ends"), { status: 503, headers });
    }
    const response = await (await this.#app).fetch(request, env);
    // The connection would stay open for a request that is not answered any more.
    if (this.#closing.signal.aborted) response.headers.set("connection", "close");
    return response;
  };

  /** Resolves when every request that was under way is answered, or at `graceMs`, which ends the rest. */
  async close(server: Server, graceMs: number, clock: Clock = systemClock): Promise<void> {
    this.#closing.abort(new Error("the gateway is shutting down"));
    await new Promise<void>((resolve) => {
      // The clock has no longest time, as a host's timer has.
      const impatience = clock.schedule(clock.now() + graceMs, () => server.closeAllConnections());
      server.close(() => {
        impatience[Symbol.dispose]();
        resolve();
      });
      server.closeIdleConnections();
    });
  }

  /** A connection that has had its last answer is not waited for. */
  watch(server: Server): void {
    server.on("request", (_request, response: ServerResponse) => this.#endIdle(server, response));
  }

  #endIdle(server: Server, response: ServerResponse): void {
    response.once("close", () => {
      if (this.#closing.signal.aborted) setImmediate(() => server.closeIdleConnections());
    });
  }

  /** A long recovery is life, and no readiness. */
  #answerProbe(pathname: string): Response | null {
    if (this.#isOpen) return null;
    if (pathname === "/healthz") return Response.json({ ok: true });
    if (pathname !== "/readyz") return null;
    return Response.json({ ready: false, checks: { recovery: "under way" } }, { status: 503 });
  }
}
