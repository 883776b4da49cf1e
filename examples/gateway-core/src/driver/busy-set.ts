/** Keys with work under way, however many pieces of it. */
export class BusySet {
  readonly #counts = new Map<string, number>();

  has(key: string): boolean {
    return this.#counts.has(key);
  }

  async during<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    }
  }
}
