import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * A way to an engine's socket that lets so many bytes of each connection through and then, until it is told, no more.
 * What goes through is in its middle for as long as a test wants, however fast or slow the machine is.
 */
export class HeldDoor {
  readonly path: string;
  readonly #to: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #held: (() => void)[] = [];
  #limit = Number.POSITIVE_INFINITY;
  /** Counts the holds: a connection that is used again begins to count with each. */
  #holds = 0;

  private constructor(to: string, path: string) {
    this.#to = to;
    this.path = path;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#take(socket));
  }

  /** @param path - Where it listens; nothing is there yet. */
  static async open(to: string, path: string): Promise<HeldDoor> {
    const door = new HeldDoor(to, path);
    door.#server.listen(path);
    await once(door.#server, "listening");
    return door;
  }

  /** From now on no connection gets more bytes through than these, either way. */
  hold(bytes: number): void {
    this.#limit = bytes;
    this.#holds += 1;
  }

  /** Lets so many bytes more of each connection through. */
  pass(bytes: number): void {
    this.letGo();
    this.hold(bytes);
  }

  letGo(): void {
    this.#limit = Number.POSITIVE_INFINITY;
    for (const resume of this.#held.splice(0)) resume();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(outer: Socket): void {
    const inner = connect({ path: this.#to, allowHalfOpen: true });
    for (const [from, to] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      this.#sockets.add(from);
      from.on("close", (hadError) => {
        this.#sockets.delete(from);
        if (hadError) to.destroy();
        else to.end();
      });
      from.on("error", () => to.destroy());
      from.on("end", () => to.end());
      this.#carry(from, to);
    }
  }

  #carry(from: Socket, to: Socket): void {
    let passed = 0;
    let holds = this.#holds;
    const resume = (): void => void from.resume();
    from.on("data", (chunk) => {
      if (holds !== this.#holds) passed = 0;
      holds = this.#holds;
      passed += chunk.length;
      const hasRoom = to.write(chunk);
      if (passed >= this.#limit) this.#held.push(resume);
      else if (hasRoom) return;
      else to.once("drain", resume);
      from.pause();
    });
  }
}
