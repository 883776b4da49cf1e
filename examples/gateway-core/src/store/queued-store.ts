import type { RecordStore } from "./record-store.js";

/**
 * A store that is asked so many things at once and no more; what comes beyond that waits for its turn. For work that
 * comes in crowds, as ten thousand expiries at the same moment bring it: it waits here, and not before the connections
 * that requests and deadlines need as well.
 */
export function queuedStore(store: RecordStore, atOnce: number): RecordStore {
  const turns = new Turns(atOnce);
  return {
    insert: (record) => turns.take(() => store.insert(record)),
    get: (id) => turns.take(() => store.get(id)),
    findByName: (name) => turns.take(() => store.findByName(name)),
    compareAndSwap: (id, version, change) => turns.take(() => store.compareAndSwap(id, version, change)),
    delete: (id, version) => turns.take(() => store.delete(id, version)),
    list: (options) => turns.take(() => store.list(options)),
    claimDue: (claim) => turns.take(() => store.claimDue(claim)),
    earliestDue: () => turns.take(() => store.earliestDue()),
    close: () => store.close(),
  };
}

class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;
  /** Taken from the front without moving the rest: the queue may be long. */
  #next = 0;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      this.#handOn();
    }
  }

  #handOn(): void {
    const next = this.#waiting[this.#next];
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#next += 1;
    if (this.#next === this.#waiting.length) {
      this.#waiting.length = 0;
      this.#next = 0;
    }
    next();
  }
}
