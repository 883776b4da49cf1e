import { SandboxWorker, type SandboxWorkerOptions } from "./sandbox-worker.js";

/** What all workers of one gateway are given alike. */
type WorkersOptions = Omit<SandboxWorkerOptions, "id" | "onIdle">;

/** The workers of the sandboxes that have work here, one each for as long as there is some. */
export class Workers {
  readonly #byId = new Map<string, SandboxWorker>();
  /** Found with work while the records are read: a start that fails half way has begun nothing. */
  readonly #toWake = new Set<string>();
  readonly #options: WorkersOptions;
  #begun = false;
  #closed = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /** The worker of a sandbox that has work at present. */
  get(id: string): SandboxWorker | undefined {
    return this.#byId.get(id);
  }

  /** There is work for a sandbox. Before the beginning it is kept in mind; after the end it is somebody else's. */
  wake(id: string): void {
    if (this.#closed) return;
    if (this.#begun) this.#worker(id).wake();
    else this.#toWake.add(id);
  }

  /** All records were read: whoever was found with work begins. */
  begin(): void {
    if (this.#closed) return;
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

  /** Nobody begins anything from here on. Resolves once everybody has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#byId.values()].map((worker) => worker.close()));
  }

  #worker(id: string): SandboxWorker {
    const existing = this.#byId.get(id);
    if (existing !== undefined) return existing;
    const onIdle = (): void => {
      if (this.#byId.get(id) === worker) this.#byId.delete(id);
    };
    const worker = new SandboxWorker({ ...this.#options, id, onIdle });
    this.#byId.set(id, worker);
    return worker;
  }
}
