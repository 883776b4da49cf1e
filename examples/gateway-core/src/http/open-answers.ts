/** How many answers may be held open at the same time. */
export interface OpenLimits {
  /** By one client: whoever shows one token at one address. */
  readonly perClient: number;
  /** By all clients together. */
  readonly all: number;
}

/** Streams of events: enough for many pages and tools, and far below what a process may have open. */
export const DEFAULT_STREAMS: OpenLimits = { perClient: 100, all: 500 };
/** Questions of a supervisor that wait for news: it asks one at a time, and may not know of one that broke. */
export const HELD_QUESTIONS: OpenLimits = { perClient: 4, all: Number.POSITIVE_INFINITY };

/** Which limit is reached. */
export type OpenLimit = "client" | "all";

/** Counts the answers that are open, and lets in no more than may be. A client without any leaves nothing behind. */
export class OpenAnswers {
  readonly #limits: OpenLimits;
  readonly #byClient = new Map<string, number>();
  #all = 0;

  constructor(limits: OpenLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#all;
  }

  get clients(): number {
    return this.#byClient.size;
  }

  /** Takes a place, which the returned object gives back, once however often it is disposed; or says what forbids it. */
  enter(client: string): Disposable | OpenLimit {
    const own = this.#byClient.get(client) ?? 0;
    // The client's own limit first: whoever has too many is told so, and not that the gateway is busy.
    if (own >= this.#limits.perClient) return "client";
    if (this.#all >= this.#limits.all) return "all";
    this.#byClient.set(client, own + 1);
    this.#all += 1;
    let isOpen = true;
    return {
      [Symbol.dispose]: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#all -= 1;
        const left = (this.#byClient.get(client) ?? 1) - 1;
        if (left > 0) this.#byClient.set(client, left);
        else this.#byClient.delete(client);
      },
    };
  }
}
