import type { Clock } from "slipway";
import type { Driver } from "../driver/driver.js";
import type { Json } from "../record/json.js";
import { sleep } from "../sleep.js";

const POLL_MS = 200;

export interface WatchTarget {
  readonly sandbox: { readonly id: string; readonly name: string };
  readonly instanceId: string;
  readonly run: number;
  readonly handle: Json;
}

/** Waits for the end of one supervisor at a time. What is to be done about it is for whoever is told. */
export class SupervisorWatch {
  readonly #clock: Clock;
  readonly #onEnd: (error: unknown) => void;
  #current: { readonly run: number; readonly controller: AbortController } | null = null;

  /** @param onEnd - Told once for each watch that was not ended; with an error when the watching itself failed. */
  constructor(clock: Clock, onEnd: (error: unknown) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  /** The run that is being watched, `null` for none. */
  get run(): number | null {
    return this.#current?.run ?? null;
  }

  begin(driver: Driver, target: WatchTarget): void {
    this.end();
    const controller = new AbortController();
    const watch = { run: target.run, controller };
    this.#current = watch;
    const over = (error: unknown): void => {
      if (this.#current !== watch) return;
      this.#current = null;
      this.#onEnd(error);
    };
    this.#untilGone(driver, target, controller.signal).then(() => over(null), over);
  }

  end(): void {
    this.#current?.controller.abort(new Error("no longer watched"));
    this.#current = null;
  }

  async #untilGone(driver: Driver, target: WatchTarget, signal: AbortSignal): Promise<void> {
    const { sandbox, instanceId, handle } = target;
    for (;;) {
      const seen = await driver.observe(sandbox, { instanceId, desired: "running" }, handle, { signal });
      if (seen !== null && (seen.running === false || seen.stale)) return;
      await sleep(this.#clock, POLL_MS, signal);
    }
  }
}
