import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "slipway";
import { onAbort } from "../src/api/on-abort.js";
import type { Transport } from "../src/api/transport.js";
import type { ApiServer } from "./apiserver/index.js";

/** Files that are read or written, names that are looked up, connections that are made: what the kernel is to answer. */
const SYSTEM_REQUEST = /Req|ConnectWrap$/;

/**
 * What is under way between the clients and API servers of one clock, and between this process and the kernel. All of it
 * takes real time, however little, and a virtual clock that moved meanwhile would run past the limits that it has.
 */
export class Traffic {
  static readonly #byClock = new WeakMap<Clock, Traffic>();
  readonly #counted = new WeakSet<Transport>();
  readonly #servers = new Set<ApiServer>();
  readonly #watches = new Set<Socket>();
  #inFlight = 0;

  /** Whoever shares a clock waits for one another. */
  static on(clock: Clock): Traffic {
    const known = Traffic.#byClock.get(clock) ?? new Traffic();
    Traffic.#byClock.set(clock, known);
    return known;
  }

  /** Counts what this server holds back by the clock: that is not waited for. */
  serves(server: ApiServer): void {
    this.#servers.add(server);
  }

  /** Counts the requests of a transport until their answers are read; a watch until it is open, and its events. */
  counted(transport: Transport): Transport {
    if (this.#counted.has(transport)) return transport;
    const counting: Transport = async (request) => {
      this.#inFlight += 1;
      let open = true;
      const done = (): void => {
        if (open) this.#inFlight -= 1;
        open = false;
        aborted[Symbol.dispose]();
      };
      // Whoever gave up reads no answer.
      const aborted = onAbort(request.signal, () => setImmediate(done));
      try {
        const reply = await transport(request);
        if (request.path.includes("watch=true")) {
          this.#follow(reply.body);
          done();
        }
        return { ...reply, body: ended(reply.body, done) };
      } catch (error) {
        done();
        throw error;
      }
    };
    this.#counted.add(counting);
    return counting;
  }

  /** What is under way that no clock holds back, in words; `null` for nothing. */
  get underWay(): string | null {
    const held = [...this.#servers].reduce((sum, { faults }) => sum + faults.holding, 0);
    if (this.#inFlight !== held) return `${this.#inFlight} requests, of which servers hold ${held}`;
    const system = process.getActiveResourcesInfo().find((name) => SYSTEM_REQUEST.test(name));
    if (system !== undefined) return system;
    for (const socket of this.#watches) {
      const sent = this.#sentTo(socket);
      if (sent !== null && sent !== socket.bytesRead) return `${sent - socket.bytesRead} bytes of a watch`;
    }
    return null;
  }

  #sentTo({ localPort }: Socket): number | null {
    for (const server of this.#servers) {
      const sent = localPort === undefined ? null : server.bytesSentTo(localPort);
      if (sent !== null) return sent;
    }
    return null;
  }

  #follow(body: AsyncIterable<Uint8Array | string>): void {
    if (!(body instanceof IncomingMessage)) return;
    const { socket } = body;
    this.#watches.add(socket);
    body.once("close", () => this.#watches.delete(socket));
  }
}

async function* ended(
  body: AsyncIterable<Uint8Array | string>,
  done: () => void,
): AsyncGenerator<Uint8Array | string> {
  try {
    yield* body;
  } finally {
    done();
  }
}
