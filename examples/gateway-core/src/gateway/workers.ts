import type { SandboxWorker } from "./sandbox-worker.js";

/** The workers of the sandboxes that have work here, one each for as long as there is some. */
export class Workers {
  readonly #byId = new Map<string, SandboxWorker>();
  /** Found with work while the records are read: a start that fails half way has begun nothing. */
  readonly #toWake = new Set<string>();
  readonly #make: (id: string, onIdle: () => void) => SandboxWorker;
  #begun = false;

  /** @param make - Makes a worker, which says when it has nothing left to do. */
  constructor(make: (id: string, onIdle: () => void) => SandboxWorker) {
    this.#make = make;
  }

  /** The worker of a sandbox that has work at present. */
  get(id: string): SandboxWorker | undefined {
    return this.#byId.get(id);
  }

  /** There is work for a sandbox. Before the beginning it is kept in mind. */
  wake(id: string): void {
    if (this.#begun) this.#worker(id).wake();
    else this.#toWake.add(id);
  }

  /** All records were read: whoever was found with work begins. */
  begin(): void {
    this.#begun = true;
    for (const id of this.#toWake) this.#worker(id).wake();
    this.#toWake.clear();
  }

  /** Everybody who works looks at the record again. */
  recheck(): void {
    for (const worker of this.#byId.values()) worker.recheck().catch(() => undefined);
  }

  /** The sandbox is gone. */
  forget(id: string): void {
    this.#toWake.delete(id);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byId.values()].map((worker) => worker.close()));
  }

  #worker(id: string): SandboxWorker {
    const existing = this.#byId.get(id);
    if (existing !== undefined) return existing;
    const worker = this.#make(id, () => {
      if (this.#byId.get(id) === worker) this.#byId.delete(id);
    });
    this.#byId.set(id, worker);
    return worker;
  }
}
