import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { z } from "zod";

const messageSchema = z.looseObject({
  id: z.number().optional(),
  return: z.unknown().optional(),
  error: z.looseObject({ class: z.string(), desc: z.string() }).optional(),
  event: z.string().optional(),
});

type Message = z.infer<typeof messageSchema>;

/** The machine refused a command. */
export class QmpError extends Error {
  override readonly name = "QmpError";
}

interface QmpEvents {
  /** Something happened in the machine; which is the event's name. */
  event: [string];
  close: [];
}

/** A conversation with a machine's monitor over its socket. A monitor talks to one client at a time. */
export class QmpClient extends EventEmitter<QmpEvents> {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (message: Message | null) => void>();
  #greeted: (() => void) | null = null;
  #last = 0;

  private constructor(socket: Socket) {
    super();
    this.#socket = socket;
    // A failure of the socket shows as its close; the lines would pass it on as an event of their own.
    socket.on("error", () => undefined);
    createInterface(socket)
      .on("line", (line) => this.#take(line))
      .on("error", () => undefined);
    socket.on("close", () => {
      for (const answer of this.#waiting.values()) answer(null);
      this.#waiting.clear();
      this.emit("close");
    });
  }

  /** Connects and leaves the capabilities' negotiation behind. Rejects when the signal aborts. */
  static async connect(path: string, signal: AbortSignal): Promise<QmpClient> {
    signal.throwIfAborted();
    const socket = connect(path);
    const client = new QmpClient(socket);
    const abort = (): void => void socket.destroy(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await once(socket, "connect");
      await new Promise<void>((resolve, reject) => {
        client.#greeted = resolve;
        client.once("close", () => reject(new Error("the monitor closed the connection")));
      });
      await client.execute("qmp_capabilities");
      return client;
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** @throws QmpError when the machine refuses; another error when it stops talking. */
  async execute(command: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const id = (this.#last += 1);
    const answer = new Promise<Message | null>((resolve) => this.#waiting.set(id, resolve));
    if (this.#socket.destroyed) throw new Error("the monitor's connection is closed");
    this.#socket.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    const message = await answer;
    if (message === null) throw new Error(`the monitor closed the connection during ${command}`);
    if (message.error !== undefined) throw new QmpError(`${command}: ${message.error.desc}`);
    return message.return;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(line: string): void {
    const message = messageSchema.safeParse(parseJson(line)).data;
    if (message === undefined) return;
    if ("QMP" in message) this.#greeted?.();
    else if (message.event !== undefined) this.emit("event", message.event);
    else if (message.id !== undefined) {
      const answer = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      answer?.(message);
    }
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
