import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/**
 * In front of a port of this machine: the first connection on which a text is sent dies without a word, as one that a
 * balancer forgot. What was sent arrives, and nothing comes back; other connections go on.
 */
export class SilentProxy {
  /** The text; `null` once a connection has died of it. */
  deadly: string | null = null;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number) {
    this.#server = createServer((client) => this.#serve(client, target));
  }

  static async start(target: number): Promise<SilentProxy> {
    const proxy = new SilentProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #serve(client: Socket, target: number): void {
    const upstream = connect(target, "127.0.0.1");
    let isDead = false;
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        this.#sockets.delete(socket);
        // The end of a connection that is dead is not heard at its other end either.
        if (!isDead) for (const other of [client, upstream]) other.destroy();
      });
    }
    client.on("data", (data) => {
      if (isDead) return;
      upstream.write(data);
      if (this.deadly === null || !data.includes(this.deadly)) return;
      this.deadly = null;
      isDead = true;
    });
    upstream.on("data", (data) => {
      if (!isDead) client.write(data);
    });
  }
}
