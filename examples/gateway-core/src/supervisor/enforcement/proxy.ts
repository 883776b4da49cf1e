import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { forward } from "../../forward/forward.js";
import { isAllowed, type AllowList } from "./allow-list.js";

/** Where a request wants to go. */
interface Target {
  readonly host: string;
  readonly port: number;
}

const CONNECT_LIMIT_MS = 10_000;

/** The proxy's own address for whoever wants to know whether it is ready, and with what. */
export const READY_PATH = "/.slipway/ready";

/**
 * An HTTP proxy that lets through what a policy allows: tunnels (CONNECT) and plain requests. It allows nothing until
 * it was given a policy. A policy that is tightened ends what is under way and no longer allowed.
 */
export class EnforcingProxy {
  readonly #server: Server;
  /** Both ends of tunnels, and answers that are under way: either end may be gone while the other one is written to. */
  readonly #open = new Map<Duplex | ServerResponse, Target>();
  #allow: AllowList = [];
  #revision = 0;

  constructor() {
    this.#server = createServer((request, response) => this.#forward(request, response));
    // A header that is left out for their number could be the one that says how long the body is.
    this.#server.maxHeadersCount = 0;
    this.#server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
      this.#tunnel(request, client, head);
    });
    // A change of protocol in a plain request would be a tunnel that nobody looks at.
    this.#server.on("upgrade", (_request, client: Duplex) => refuse(client, 501, "use CONNECT"));
    this.#server.on("clientError", (_error, client: Duplex) => refuse(client, 400, "malformed request"));
  }

  /** Listens on loopback only; the port is the system's choice. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", () => {
        const address = this.#server.address();
        if (typeof address === "object" && address !== null) resolve(address.port);
      });
    });
  }

  goBy(allow: AllowList, revision: number): void {
    this.#allow = allow;
    this.#revision = revision;
    for (const [end, { host, port }] of this.#open) {
      if (!isAllowed(allow, host, port)) end.destroy();
    }
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const end of this.#open.keys()) end.destroy();
  }

  #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): void {
    client.on("error", () => client.destroy());
    const target = authorityOf(request.url ?? "");
    if (target === null) {
      refuse(client, 400, "CONNECT wants host:port");
      return;
    }
    if (!isAllowed(this.#allow, target.host, target.port)) {
      refuse(client, 403, denial(target));
      return;
    }
    this.#open.set(client, target);
    // Either side may have said all while the other goes on, or has not read all of it yet.
    const upstream = connect({ host: target.host, port: target.port, allowHalfOpen: true });
    this.#open.set(upstream, target);
    upstream.setTimeout(CONNECT_LIMIT_MS, () => upstream.destroy(new Error("no connection in time")));
    let open = false;
    upstream.once("connect", () => {
      upstream.setTimeout(0);
      open = true;
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) upstream.write(head);
      upstream.pipe(client);
      client.pipe(upstream);
    });
    upstream.on("error", (error) => {
      if (open) client.destroy();
      else refuse(client, 502, `${target.host}:${target.port}: ${error.message}`);
    });
    upstream.once("close", () => {
      this.#open.delete(upstream);
      if (open && !endedInOrder(upstream)) client.destroy();
    });
    client.once("close", () => {
      this.#open.delete(client);
      if (!endedInOrder(client)) upstream.destroy();
    });
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    if (request.url === READY_PATH) {
      answer(response, 200, JSON.stringify({ ready: true, revision: this.#revision }));
      return;
    }
    const url = absolute(request.url ?? "");
    if (url === null) {
      answer(response, 400, "this is a proxy: the request needs an absolute http:// address");
      return;
    }
    const target = { host: url.hostname, port: url.port === "" ? 80 : Number(url.port) };
    if (!isAllowed(this.#allow, target.host, target.port)) {
      answer(response, 403, denial(target));
      return;
    }
    this.#open.set(response, target);
    response.once("close", () => this.#open.delete(response));
    const { host: name, pathname, search } = url;
    forward(request, response, { ...target, name, path: `${pathname}${search}` }, (status, why) =>
      answer(response, status, `${target.host}:${target.port}: ${why}`),
    );
  }
}

/** Both directions came to their end: what was passed on to the other side is still being written there. */
function endedInOrder({ readableEnded, writableFinished }: Duplex): boolean {
  return readableEnded && writableFinished;
}

function denial({ host, port }: Target): string {
  return `the policy's network.allow does not name ${host}:${port}`;
}

/** `host:port`, with an IPv6 address in brackets. */
function authorityOf(text: string): Target | null {
  const found = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^\s:/@[\]]+)):(?<port>\d{1,5})$/i.exec(text)?.groups;
  const host = found?.["v6"] ?? found?.["name"];
  const port = Number(found?.["port"]);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

function absolute(text: string): URL | null {
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) return null;
  return new URL(text);
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "text/plain", "x-slipway-proxy": "1" });
  response.end(`${body}\n`);
}

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  501: "Not Implemented",
  502: "Bad Gateway",
};

function refuse(client: Duplex, status: number, why: string): void {
  client.on("error", () => undefined);
  if (!client.writable) {
    client.destroy();
    return;
  }
  const body = `${why}\n`;
  client.end(
    `HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? "Error"}\r\ncontent-type: text/plain\r\nx-slipway-proxy: 1\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
