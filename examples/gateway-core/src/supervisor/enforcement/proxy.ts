import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isAllowed, type AllowList } from "./allow-list.js";

/** Where a request wants to go. */
interface Target {
  readonly host: string;
  readonly port: number;
}

const CONNECT_LIMIT_MS = 10_000;

/** The proxy's own address for whoever wants to know whether it is ready, and with what. */
export const READY_PATH = "/.slipway/ready";

/** Headers of one connection, which end at a proxy. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
];

/**
 * An HTTP proxy that lets through what a policy allows: tunnels (CONNECT) and plain requests. It allows nothing until
 * it was given a policy. A policy that is tightened ends the tunnels that it no longer allows.
 */
export class EnforcingProxy {
  readonly #server: Server;
  readonly #tunnels = new Map<Duplex, Target>();
  #allow: AllowList = [];
  #revision = 0;

  constructor() {
    this.#server = createServer((request, response) => this.#forward(request, response));
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
    for (const [client, { host, port }] of this.#tunnels) {
      if (!isAllowed(allow, host, port)) client.destroy();
    }
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const client of this.#tunnels.keys()) client.destroy();
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
    this.#tunnels.set(client, target);
    const upstream = connect({ host: target.host, port: target.port });
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
    upstream.once("close", () => client.destroy());
    client.once("close", () => {
      this.#tunnels.delete(client);
      upstream.destroy();
    });
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    request.on("error", () => response.destroy());
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
    const upstream = httpRequest({
      host: unbracketed(target.host),
      port: target.port,
      method: request.method ?? "GET",
      path: `${url.pathname}${url.search}`,
      headers: onward(request, url.host),
      agent: false,
    });
    upstream.setTimeout(CONNECT_LIMIT_MS);
    upstream.once("socket", (socket: Socket) => socket.once("connect", () => upstream.setTimeout(0)));
    upstream.once("timeout", () => upstream.destroy(new Error("no connection in time")));
    upstream.once("upgrade", (_answer, socket: Socket) => socket.destroy());
    upstream.once("response", (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEnd(incoming.rawHeaders));
      incoming.pipe(response);
      incoming.once("error", () => response.destroy());
    });
    upstream.on("error", (error) => {
      if (response.headersSent) response.destroy();
      else answer(response, 502, `${target.host}:${target.port}: ${error.message}`);
    });
    response.once("close", () => upstream.destroy());
    request.pipe(upstream);
  }
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

function unbracketed(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

/** The headers for the target, with its own name whatever the client called it: the name is what was checked. */
function onward({ rawHeaders }: IncomingMessage, host: string): string[] {
  const kept = endToEnd(rawHeaders);
  const headers: string[] = [];
  for (let index = 0; index < kept.length; index += 2) {
    const name = kept[index] ?? "";
    if (name.toLowerCase() !== "host") headers.push(name, kept[index + 1] ?? "");
  }
  return ["Host", host, ...headers];
}

function endToEnd(rawHeaders: readonly string[]): string[] {
  const dropped = new Set(HOP_BY_HOP);
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== "connection") continue;
    for (const name of (rawHeaders[index + 1] ?? "").split(",")) dropped.add(name.trim().toLowerCase());
  }
  const kept: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (!dropped.has(name.toLowerCase())) kept.push(name, rawHeaders[index + 1] ?? "");
  }
  return kept;
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
