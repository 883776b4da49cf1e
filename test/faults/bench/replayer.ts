import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once, setMaxListeners } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Delivery } from "../checker/history.js";

interface Message {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

const PAST_MAX = 300;

interface Reply {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: Buffer;
}

/**
 * What stands between supervisors and gateways: passes every request on, notes what was answered, and on demand
 * delivers reports twice, the second time later, or holds them back so that they arrive in another order.
 */
export class Replayer {
  mode: "plain" | "duplicate" | "reorder" = "plain";
  readonly #target: number;
  readonly #random: () => number;
  readonly #server: Server;
  readonly #deliveries = new Map<string, Delivery[]>();
  readonly #late = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  /** Reports that were delivered before, to be delivered once more. */
  readonly #past: Message[] = [];
  #replayed = 0;
  #heldBack = 0;

  private constructor(target: number, random: () => number) {
    this.#target = target;
    this.#random = random;
    // One for each report that is held back.
    setMaxListeners(0, this.#closing.signal);
    this.#server = createServer((incoming, outgoing) => {
      this.#serve(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  static async start(target: number, random: () => number): Promise<Replayer> {
    const replayer = new Replayer(target, random);
    replayer.#server.listen(0, "127.0.0.1");
    await once(replayer.#server, "listening");
    return replayer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many reports were delivered again, and how many were held back. */
  get counts(): { readonly replayed: number; readonly heldBack: number } {
    return { replayed: this.#replayed, heldBack: this.#heldBack };
  }

  /** Delivers old reports once more, spread over a while: most of them are of a run or an attempt that is over. */
  replayPast(count: number, overMs: number): void {
    for (let replay = 0; replay < count && this.#past.length > 0; replay += 1) {
      const message = this.#past[Math.floor(this.#random() * this.#past.length)];
      if (message !== undefined) this.#deliverLater(message, this.#random() * overMs);
    }
  }

  /** Every report that was answered up to now, by its sandbox. */
  deliveries(): ReadonlyMap<string, readonly Delivery[]> {
    return new Map([...this.#deliveries].map(([id, deliveries]) => [id, [...deliveries]]));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#server.close();
    this.#server.closeAllConnections();
    await Promise.allSettled(this.#late);
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const message: Message = {
      method: incoming.method ?? "GET",
      url: incoming.url ?? "/",
      headers: {
        authorization: incoming.headers.authorization,
        "x-slipway-run": incoming.headers["x-slipway-run"] as string | undefined,
        "content-type": incoming.headers["content-type"],
      },
      body: Buffer.concat(chunks),
    };
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    if (message.method !== "GET") {
      this.#past.push(message);
      if (this.#past.length > PAST_MAX) this.#past.shift();
      if (this.mode !== "plain") await this.#disturb(message);
    }
    const reply = await this.#deliver(message, gone.signal).catch(() => null);
    if (reply === null) {
      outgoing.destroy();
      return;
    }
    const type = reply.type === undefined ? {} : { "content-type": reply.type };
    outgoing.writeHead(reply.status, type).end(reply.body);
  }

  async #disturb(message: Message): Promise<void> {
    if (this.mode === "reorder") {
      this.#heldBack += 1;
      await this.#after(this.#random() * 1500);
      return;
    }
    // At the same moment, soon, or long after its attempt may be over.
    const wait = [0, this.#random() * 500, this.#random() * 12_000][Math.floor(this.#random() * 3)] ?? 0;
    this.#deliverLater(message, wait);
  }

  #deliverLater(message: Message, ms: number): void {
    this.#replayed += 1;
    const late = this.#after(ms)
      .then((goOn) => (goOn ? this.#deliver(message, this.#closing.signal) : null))
      .catch(() => null)
      .finally(() => this.#late.delete(late));
    this.#late.add(late);
  }

  /** False when the replayer is closing. */
  #after(ms: number): Promise<boolean> {
    return delay(ms, true, { signal: this.#closing.signal }).catch(() => false);
  }

  async #deliver(message: Message, signal: AbortSignal): Promise<Reply> {
    const sentAt = Date.now();
    const reply = await this.#forward(message, signal);
    this.#note(message, reply, sentAt);
    return reply;
  }

  async #forward({ method, url, headers, body }: Message, signal: AbortSignal): Promise<Reply> {
    const given = Object.entries(headers).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    signal.throwIfAborted();
    const options = { host: "127.0.0.1", port: this.#target, method, path: url, agent: false, signal };
    const outgoing = request({
      ...options,
      headers: { ...Object.fromEntries(given), "content-length": String(body.length) },
    });
    // Told to whoever waits below; without a listener of its own it would end the bench.
    outgoing.on("error", () => undefined);
    outgoing.end(body);
    const [incoming] = (await once(outgoing, "response", { signal })) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { statusCode = 502, headers: answered } = incoming;
    return { status: statusCode, type: answered["content-type"], body: Buffer.concat(chunks) };
  }

  #note(message: Message, reply: Reply, sentAt: number): void {
    const [, id, what = ""] = /\/v1\/supervisor\/([^/]+)\/(\w+)/.exec(message.url) ?? [];
    if (id === undefined) return;
    const told = jsonOf(message.body);
    const answer = jsonOf(reply.body);
    const deliveries = this.#deliveries.get(id) ?? [];
    this.#deliveries.set(id, deliveries);
    deliveries.push({
      attempt: message.headers["authorization"]?.replace(/^Bearer /, "") ?? "",
      run: Number(message.headers["x-slipway-run"]),
      what: [what, told["kind"]].filter((word) => typeof word === "string").join(" "),
      sentAt,
      answeredAt: Date.now(),
      status: reply.status,
      activate: answer["activate"] === true,
    });
  }
}

function jsonOf(body: Buffer): Record<string, unknown> {
  try {
    return (JSON.parse(body.toString()) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
