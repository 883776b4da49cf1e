import { EventSourceParserStream } from "eventsource-parser/stream";
import { checkToken } from "../check-token.js";
import { REASON_CONTRACT_HEADER } from "../http/contract-header.js";
import type { ErrorBody } from "../http/errors.js";
import type { SandboxView } from "../http/view.js";
import { whyUnreachable } from "./why-unreachable.js";

export interface ClientOptions {
  readonly url: string;
  readonly token?: string | undefined;
  /** The contract of reasons to answer in. Default: the gateway's for those who do not ask, 1. */
  readonly reasonContract?: number | undefined;
}

/** The gateway answered with an error. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** No gateway answers at the address. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

export interface SandboxPage {
  readonly items: readonly SandboxView[];
  readonly unreadable: readonly { readonly id: string; readonly message: string }[];
  readonly next: string | null;
}

export type Changed = SandboxView & { readonly changed: boolean };
export type Updated = SandboxView & { readonly renewed: boolean; readonly sameContent: boolean };

/** The gateway's HTTP API. */
export class GatewayClient {
  readonly url: string;
  readonly #options: ClientOptions;

  /** @throws InvalidInputError for a token that a header cannot carry */
  constructor(options: ClientOptions) {
    checkToken("token", options.token);
    this.url = options.url.replace(/\/+$/, "");
    this.#options = options;
  }

  create(body: unknown): Promise<SandboxView> {
    return this.#json("POST", "sandboxes", body);
  }

  list(
    query: { readonly after?: string | undefined; readonly limit?: number | undefined } = {},
  ): Promise<SandboxPage> {
    const params = Object.entries(query).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value)]],
    );
    return this.#json("GET", `sandboxes?${new URLSearchParams(params).toString()}`);
  }

  get(sandbox: string): Promise<SandboxView> {
    return this.#json("GET", this.#path(sandbox));
  }

  update(sandbox: string, body: unknown): Promise<Updated> {
    return this.#json("PUT", `${this.#path(sandbox)}/configuration`, body);
  }

  start(sandbox: string): Promise<Changed> {
    return this.#json("POST", `${this.#path(sandbox)}/start`);
  }

  stop(sandbox: string): Promise<Changed> {
    return this.#json("POST", `${this.#path(sandbox)}/stop`);
  }

  delete(sandbox: string): Promise<Changed> {
    return this.#json("DELETE", this.#path(sandbox));
  }

  /**
   * Follows a sandbox: its state now and after every change, until it is gone. A stream that breaks is taken up again
   * where it broke.
   */
  async *watch(sandbox: string, signal?: AbortSignal): AsyncGenerator<SandboxView> {
    let last = "";
    const ended = (): boolean => signal?.aborted === true;
    for (let failures = 0; !ended(); ) {
      try {
        const headers: Record<string, string> = last === "" ? {} : { "last-event-id": last };
        const response = await this.#fetch("GET", `${this.#path(sandbox)}/watch`, { headers, signal });
        failures = 0;
        const events = response.body
          ?.pipeThrough(new TextDecoderStream())
          .pipeThrough(new EventSourceParserStream());
        for await (const event of events ?? []) {
          if (event.event === "deleted") return;
          last = event.id ?? last;
          yield JSON.parse(event.data) as SandboxView;
        }
      } catch (error) {
        if (ended()) return;
        if (error instanceof ApiError) {
          // It was there before: gone means deleted while nobody was listening.
          if (error.status === 404 && last !== "") return;
          throw error;
        }
        failures += 1;
        if (last === "" || failures > RECONNECTS_MAX) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  #path(sandbox: string): string {
    return `sandboxes/${encodeURIComponent(sandbox)}`;
  }

  async #json<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.#fetch(method, path, { body });
    return (await response.json()) as Answer;
  }

  async #fetch(
    method: string,
    path: string,
    options: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal | undefined },
  ): Promise<Response> {
    const { url } = this;
    const { token, reasonContract } = this.#options;
    const { body, signal } = options;
    const headers: Record<string, string> = { ...options.headers };
    if (reasonContract !== undefined) headers[REASON_CONTRACT_HEADER] = String(reasonContract);
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    const init: RequestInit = { method, headers, signal: signal ?? null };
    let response: Response;
    try {
      response = await fetch(
        `${url}/v1/${path}`,
        body === undefined ? init : { ...init, body: JSON.stringify(body) },
      );
    } catch (cause) {
      if (signal?.aborted === true) throw cause;
      throw new UnreachableError(`No gateway answers at ${url}${whyUnreachable(cause)}`, { cause });
    }
    if (response.ok) return response;
    const { error } = ((await response.json().catch(() => null)) ?? {}) as Partial<ErrorBody>;
    throw new ApiError(
      response.status,
      error?.code ?? "http",
      error?.message ?? `HTTP status ${response.status}`,
    );
  }
}

const RECONNECT_MS = 250;
const RECONNECTS_MAX = 120;
