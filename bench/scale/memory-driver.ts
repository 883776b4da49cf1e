import { observeProcess, type Observation, type ObservedSandbox, type Page } from "slipway";
import type { Driver, SandboxRef, WorkContext } from "../../examples/gateway-core/src/driver/driver.js";
import { instanceIdOf } from "../../examples/gateway-core/src/record/record.js";

const PAGE = 1000;

/** A backend that answers at once: what is measured is the gateway and its store. */
export class MemoryDriver implements Driver {
  readonly name = "memory";
  readonly #running = new Map<string, ObservedSandbox>();
  #ids: readonly string[] = [];
  cleanedUp = 0;

  /** What runs from now on. */
  run(ids: readonly string[]): void {
    for (const id of ids) this.#running.set(id, { id, observation: seen(id) });
    this.#ids = [...this.#running.keys()].sort();
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  launch(): Promise<never> {
    return Promise.reject(new Error("nothing is launched here"));
  }

  observe({ id }: SandboxRef): Promise<Observation | null> {
    return Promise.resolve(this.#running.get(id)?.observation ?? null);
  }

  list(cursor: string | null): Promise<Page<ObservedSandbox>> {
    const from = Number(cursor ?? 0);
    const items = this.#ids.slice(from, from + PAGE).flatMap((id) => this.#running.get(id) ?? []);
    return Promise.resolve({ items, cursor: from + PAGE < this.#ids.length ? String(from + PAGE) : null });
  }

  async *watch({ signal }: WorkContext): AsyncIterable<never> {
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  cleanUp({ id }: SandboxRef): Promise<void> {
    this.#running.delete(id);
    this.cleanedUp += 1;
    return Promise.resolve();
  }

  remove(sandbox: SandboxRef): Promise<void> {
    return this.cleanUp(sandbox);
  }
}

function seen(id: string): Observation {
  const instanceId = instanceIdOf(id, 1);
  const process = { alive: true, exitCode: null, signal: null, instanceId };
  const observation = observeProcess({ process, stateDir: { exists: true } }, { run: { instanceId } });
  return { ...observation, instanceId };
}
