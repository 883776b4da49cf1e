import type { Driver } from "../driver/driver.js";
import type { SandboxRecord } from "../record/record.js";
import { launch, stillWanted, type LaunchDeps, type RunningLaunch } from "./launch.js";

/** The launch that a worker has under way, if any. It ends with the gateway, and when nobody asks for it any more. */
export class CurrentLaunch {
  readonly #id: string;
  readonly #deps: LaunchDeps;
  readonly #closing: AbortSignal;
  #current: { readonly running: RunningLaunch; readonly controller: AbortController } | null = null;

  /** @param closing - Aborts when the gateway shuts down. */
  constructor(id: string, deps: LaunchDeps, closing: AbortSignal) {
    this.#id = id;
    this.#deps = deps;
    this.#closing = closing;
  }

  get isUnderWay(): boolean {
    return this.#current !== null;
  }

  /** Somebody wrote the record: a launch that it no longer asks for is stopped at once. */
  notice(record: SandboxRecord | null): void {
    const current = this.#current;
    if (current !== null && !stillWanted(record, current.running)) {
      current.controller.abort(new Error("the record no longer asks for this work"));
    }
  }

  /** Launches, and waits for what came of it; false when it turned out not to be ours. */
  async run(driver: Driver): Promise<boolean> {
    const signal = this.#closing;
    const controller = new AbortController();
    // Also where nothing is known of the launch yet: none is begun from here on.
    const end = (): void => controller.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    let taken = false;
    const onStarted = (running: RunningLaunch): void => {
      taken = true;
      this.#current = { running, controller };
    };
    try {
      await launch(this.#id, driver, controller, onStarted, this.#deps);
    } finally {
      this.#current = null;
      signal.removeEventListener("abort", end);
    }
    return taken;
  }
}
