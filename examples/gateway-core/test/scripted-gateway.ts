import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ActivationEntry } from "slipway/retry";
import type { SupervisorReport } from "../src/decide/supervisor-report.js";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly authorization: string;
  /** Failed attempts, as the supervisor counts them. */
  readonly failures: string;
}

/** An answer of the test's own; `undefined` leaves it to the usual one, and `"drop"` breaks the connection. */
export type Script = (asked: Asked) => Own | Promise<Own>;

type Own = { status: number; body?: unknown } | "drop" | "hang" | undefined;

/**
 * The supervisor's half of a gateway on a real socket. What it fakes: there is no record behind it, its ledger has one
 * entry, and every answer may be replaced by the test's script.
 */
export class ScriptedGateway {
  readonly asked: Asked[] = [];
  entry: ActivationEntry | null = null;
  policy: unknown = { version: 1 };
  generation = 1;
  remainingMs: number | null = 60_000;
  script: Script = () => undefined;
  #server: Server | undefined;
  #port = 0;
  #waiting: (() => void)[] = [];

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get reports(): readonly SupervisorReport[] {
    return this.asked
      .filter(({ path }) => path.endsWith("/report"))
      .map(({ body }) => body as SupervisorReport);
  }

  kinds(kind: SupervisorReport["kind"]): readonly SupervisorReport[] {
    return this.reports.filter((report) => report.kind === kind);
  }

  /** Takes a port, and nobody listens there: what connects is refused until `open`. */
  async reserve(): Promise<this> {
    await this.open();
    await this.close();
    return this;
  }

  async open(): Promise<this> {
    const server = createServer((request, response) => void this.#answer(request, response));
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    return this;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  commit(policy: unknown): void {
    this.policy = policy;
    this.generation += 1;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const asked: Asked = {
      method: request.method ?? "",
      path: new URL(request.url ?? "", this.url).pathname,
      body: text === "" ? null : JSON.parse(text),
      authorization: request.headers.authorization ?? "",
      failures: String(request.headers["x-slipway-failures"] ?? ""),
    };
    this.asked.push(asked);
    const own = await this.script(asked);
    if (own === "hang") return;
    if (own === "drop") {
      request.socket.destroy();
      return;
    }
    const { status, body } = own ?? (await this.#usual(asked, request));
    if (this.remainingMs !== null && status < 300)
      response.setHeader("x-slipway-remaining-ms", String(this.remainingMs));
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body === undefined ? "" : JSON.stringify(body));
  }

  async #usual(
    { method, path, body }: Asked,
    request: IncomingMessage,
  ): Promise<{ status: number; body?: unknown }> {
    if (path.endsWith("/configuration")) {
      const after = Number(new URL(request.url ?? "", this.url).searchParams.get("after"));
      if (this.generation <= after) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      return { status: 200, body: { generation: this.generation, digest: "d", policy: this.policy } };
    }
    if (path.endsWith("/activation") && method === "GET") return { status: 200, body: { entry: this.entry } };
    if (path.endsWith("/activation")) {
      const { expectedVersion, next } = body as {
        expectedVersion: number | null;
        next: ActivationEntry | null;
      };
      const swapped = (this.entry?.version ?? null) === expectedVersion;
      if (swapped) this.entry = next;
      return { status: 200, body: { swapped } };
    }
    const report = body as SupervisorReport;
    const isOld = "generation" in report && report.generation !== this.generation;
    if (isOld) return { status: 409, body: { error: { code: "not-current", message: "another" } } };
    return { status: 200, body: { activate: report.kind === "accepted" } };
  }
}
