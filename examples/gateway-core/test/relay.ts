import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Stands between supervisors and their gateway, on a port of its own: while it is closed the gateway cannot be reached,
 * and a request that it holds is never answered.
 */
export class Relay {
  /** Where the gateway is. */
  target = "";
  holds: (path: string, body: string) => boolean = () => false;
  #server: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<this> {
    const server = createServer((incoming, outgoing) => void this.#pass(incoming, outgoing));
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    return this;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of incoming) body += String(chunk);
    const { method = "GET", url = "/", headers } = incoming;
    if (this.holds(url, body)) return;
    const onward = request(new URL(url, this.target), { method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    onward.end(body);
  }
}
