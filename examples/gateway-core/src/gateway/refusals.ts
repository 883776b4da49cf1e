/** How often something was refused for one sandbox, and when last. For diagnosis; it is not kept across a restart. */
export interface Refusal {
  readonly event: string;
  readonly why: string;
  readonly count: number;
  readonly lastAt: number;
}

const MAX_SANDBOXES = 10_000;

/** Counts refused events, so that news that moved nothing can still be seen. */
export class Refusals {
  readonly #bySandbox = new Map<string, Map<string, Refusal>>();

  note(id: string, event: string, why: string, at: number): void {
    let counts = this.#bySandbox.get(id);
    if (counts === undefined) {
      const [oldest] = this.#bySandbox.keys();
      if (this.#bySandbox.size >= MAX_SANDBOXES && oldest !== undefined) this.#bySandbox.delete(oldest);
      counts = new Map();
      this.#bySandbox.set(id, counts);
    }
    const key = `${event} ${why}`;
    counts.set(key, { event, why, count: (counts.get(key)?.count ?? 0) + 1, lastAt: at });
  }

  of(id: string): readonly Refusal[] {
    return [...(this.#bySandbox.get(id)?.values() ?? [])];
  }

  forget(id: string): void {
    this.#bySandbox.delete(id);
  }
}
