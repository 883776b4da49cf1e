import { setMaxListeners } from "node:events";
import type { RecordEvent } from "../gateway/event-hub.js";
import type { Gateway } from "../gateway/gateway.js";

/** Something that can be waited for: whatever happened since it was last cleared counts as well. */
export class Bell {
  #ring: (() => void) | null = null;
  #rung = false;

  hasRung(): boolean {
    return this.#rung;
  }

  clear(): void {
    this.#rung = false;
  }

  readonly ring = (): void => {
    this.#rung = true;
    this.#ring?.();
  };

  /** Resolves when it has rung, at this instant at the latest. */
  async wait(clock: Gateway["clock"], until: number): Promise<void> {
    if (this.#rung) return;
    const rung = new Promise<void>((resolve) => (this.#ring = resolve));
    const alarm = clock.schedule(until, () => this.#ring?.());
    await rung;
    alarm[Symbol.dispose]();
    this.#ring = null;
  }
}

export interface NewsOptions {
  readonly gateway: Gateway;
  /** Rings the bell when it is true of an event, and may keep the event. */
  readonly hears: (event: RecordEvent) => boolean;
  /** Called before the bell rings, when events may be missing. */
  readonly onLapse?: (() => void) | undefined;
  /** Called when somebody else may have written something. Default: the bell rings. */
  readonly onDoubt?: ((ring: () => void) => void) | undefined;
  /** Each ends whatever is waited for. */
  readonly signals: readonly AbortSignal[];
}

/** Rings a bell at everything that an open answer may have to do with, until it is disposed. */
export function ringAtNews(
  bell: Bell,
  { gateway, hears, onLapse, onDoubt, signals }: NewsOptions,
): Disposable {
  const { ring } = bell;
  const listening = gateway.hub.subscribe(
    (event) => {
      if (hears(event)) ring();
    },
    () => {
      onLapse?.();
      if (onLapse !== undefined) ring();
    },
    () => {
      if (onDoubt === undefined) ring();
      else onDoubt(ring);
    },
  );
  for (const signal of signals) {
    // As many answers as there are wait on one signal: that is no leak.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", ring, { once: true });
  }
  return {
    [Symbol.dispose]: () => {
      listening[Symbol.dispose]();
      for (const signal of signals) signal.removeEventListener("abort", ring);
    },
  };
}
