import type { RequestFacts } from "./faults.js";

/** One request as it was answered. */
export interface Entry extends RequestFacts {
  /** Epoch milliseconds on the server's clock, without the cluster's skew. */
  readonly at: number;
  /** The HTTP status, 0 if the connection was cut instead. */
  readonly code: number;
}

const KEPT = 10_000;

/** Counts requests: all of them by verb and resource, and the last ones one by one. */
export class Ledger {
  readonly #totals = new Map<string, number>();
  #recent: Entry[] = [];
  #requests = 0;

  record(entry: Entry): void {
    this.#requests += 1;
    const { verb, plural, subresource } = entry;
    const key = `${verb} ${subresource === "" ? plural : `${plural}/${subresource}`}`;
    this.#totals.set(key, (this.#totals.get(key) ?? 0) + 1);
    this.#recent.push(entry);
    if (this.#recent.length > 2 * KEPT) this.#recent = this.#recent.slice(-KEPT);
  }

  /** All requests since the last reset. */
  get requests(): number {
    return this.#requests;
  }

  /** How many of `list sandboxes`, `patch sandboxes/status`. */
  count(verb: string, resource: string): number {
    return this.#totals.get(`${verb} ${resource}`) ?? 0;
  }

  get totals(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#totals);
  }

  /** The last requests, oldest first; at least the last 10 000. */
  get recent(): readonly Entry[] {
    return this.#recent;
  }

  reset(): void {
    this.#totals.clear();
    this.#recent = [];
    this.#requests = 0;
  }
}
