import type { ActivationEntry, ActivationLedger } from "../retry/index.js";

/**
 * An {@link ActivationLedger} in memory, for tests: forgets everything when the process ends.
 *
 * Every call answers a microtask later, as a store does, so that callers interleave.
 *
 * @public
 */
export class InMemoryActivationLedger implements ActivationLedger {
  readonly #entries = new Map<string, ActivationEntry>();

  async read(instanceId: string): Promise<ActivationEntry | null> {
    await Promise.resolve();
    return this.#entries.get(instanceId) ?? null;
  }

  async compareAndSwap(
    instanceId: string,
    expectedVersion: number | null,
    next: ActivationEntry | null,
  ): Promise<boolean> {
    await Promise.resolve();
    if ((this.#entries.get(instanceId)?.version ?? null) !== expectedVersion) return false;
    if (next === null) this.#entries.delete(instanceId);
    else this.#entries.set(instanceId, Object.freeze({ ...next }));
    return true;
  }

  /** What is kept now, for assertions. */
  get entries(): ReadonlyMap<string, ActivationEntry> {
    return this.#entries;
  }
}
