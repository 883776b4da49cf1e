/** Runs one piece of work per key at a time, in the order asked for. Keys without work cost nothing. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    const settled = mine.then(ignore, ignore);
    this.#tails.set(key, settled);
    void settled.then(() => {
      if (this.#tails.get(key) === settled) this.#tails.delete(key);
    });
    return mine;
  }

  /** The number of keys with work. */
  get size(): number {
    return this.#tails.size;
  }
}

function ignore(): void {
  // The caller of `run` sees the result; the queue only waits for it.
}

/** Runs at most so many pieces of work at once. */
export class Limiter {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // A waiter takes the place over, so that nobody slips in between.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
