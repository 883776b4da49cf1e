import type { Driver } from "../driver/driver.js";
import type { Json } from "../record/json.js";

export interface WatchTarget {
  readonly sandbox: { readonly id: string; readonly name: string };
  readonly run: number;
  readonly handle: Json;
}

/** Waits for the end of one supervisor at a time. What is to be done about it is for whoever is told. */
export class SupervisorWatch {
  readonly #onEnd: (error: unknown) => void;
  #current: { readonly run: number; readonly controller: AbortController } | null = null;

  /** @param onEnd - Told once for each watch that was not ended; with an error when the watching itself failed. */
  constructor(onEnd: (error: unknown) => void) {
    this.#onEnd = onEnd;
  }

  /** The run that is being watched, `null` for none. */
  get run(): number | null {
    return this.#current?.run ?? null;
  }

  begin(driver: Driver, { sandbox, run, handle }: WatchTarget): void {
    this.end();
    const controller = new AbortController();
    const watch = { run, controller };
    this.#current = watch;
    const over = (error: unknown): void => {
      if (this.#current !== watch) return;
      this.#current = null;
      this.#onEnd(error);
    };
    driver.waitUntilGone(sandbox, handle, { signal: controller.signal }).then(() => over(null), over);
  }

  end(): void {
    this.#current?.controller.abort(new Error("no longer watched"));
    this.#current = null;
  }
}
