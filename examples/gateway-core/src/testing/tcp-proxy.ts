import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * One address in front of several ports of this machine, as a service has it in front of its replicas: each connection
 * goes to the first target, from a turning start, that takes it. Connections can be cut and slowed down.
 */
export class TcpProxy {
  /** How long each piece of data is held back, in milliseconds. */
  delayMs = 0;
  /** While false, a connection is closed as soon as it is made. */
  open = true;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #targets: readonly number[];
  #turn = 0;

  private constructor(targets: readonly number[]) {
    this.#targets = targets;
    this.#server = createServer((client) => void this.#serve(client));
  }

  static async start(targets: readonly number[] = []): Promise<TcpProxy> {
    const proxy = new TcpProxy(targets);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Where new connections go. */
  direct(targets: readonly number[]): void {
    this.#targets = targets;
  }

  /** Breaks every connection that there is, in the middle of whatever it carries. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #serve(client: Socket): Promise<void> {
    this.#keep(client);
    const upstream = this.open ? await this.#connect() : null;
    if (upstream === null || client.destroyed) {
      client.destroy();
      upstream?.destroy();
      return;
    }
    this.#keep(upstream);
    this.#carry(client, upstream);
    this.#carry(upstream, client);
  }

  async #connect(): Promise<Socket | null> {
    this.#turn += 1;
    for (let tried = 0; tried < this.#targets.length; tried += 1) {
      const port = this.#targets[(this.#turn + tried) % this.#targets.length] ?? 0;
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      const connected = await once(socket, "connect").then(
        () => true,
        () => false,
      );
      if (connected) return socket;
    }
    return null;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** The end of one side is the end of the other; what was held back before it still arrives. */
  #carry(from: Socket, to: Socket): void {
    // In order, also when the delay becomes shorter while something is held back.
    let held: Promise<void> | null = null;
    const later = (work: () => void): void => {
      const ms = this.delayMs;
      if (ms === 0 && held === null) {
        work();
        return;
      }
      const due = Promise.all([held, delay(ms)]).then(() => {
        work();
        if (held === due) held = null;
      });
      held = due;
    };
    from.on("data", (data) =>
      later(() => {
        if (to.writable) to.write(data);
      }),
    );
    from.on("end", () => later(() => to.end()));
    from.on("close", (failed) => later(() => (failed ? to.resetAndDestroy() : to.destroy())));
  }
}
