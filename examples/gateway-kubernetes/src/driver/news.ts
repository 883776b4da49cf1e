import type { WatchEvent } from "slipway";
import type { ReflectorSink } from "../api/reflector.js";
import { resourceVersionOf, textAt, uidOf, type Plain } from "../api/plain.js";
import { SANDBOX_LABEL } from "../resource/names.js";

/** News that wait to be read: the latest of each sandbox, so that a slow reader costs no more than the sandboxes do. */
export class NewsQueue {
  readonly #waiting = new Map<string, WatchEvent>();
  #wake: (() => void) | null = null;

  push(event: WatchEvent): void {
    // Goes to the end, with the latest word.
    this.#waiting.delete(event.id);
    this.#waiting.set(event.id, event);
    this.#wake?.();
  }

  async *read(signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener("abort", wake, { once: true });
    try {
      while (!signal.aborted) {
        const [first] = this.#waiting;
        if (first === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          continue;
        }
        this.#waiting.delete(first[0]);
        yield first[1];
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }
}

interface Known {
  readonly id: string;
  readonly version: string;
}

/**
 * Turns what a reflector tells into news. It keeps the version of each object and nothing else, and after a new list
 * tells only of what differs from before. The first list tells nothing: whoever opens a watch sweeps as well.
 */
export class NewsSink implements ReflectorSink {
  readonly #tell: (event: WatchEvent) => void;
  readonly #goneIs: WatchEvent["type"];
  #known = new Map<string, Known>();
  #listed: Map<string, Known> | null = null;
  #first = true;

  /** @param goneIs - What an object that is gone means for its sandbox. */
  constructor(goneIs: WatchEvent["type"], tell: (event: WatchEvent) => void) {
    this.#goneIs = goneIs;
    this.#tell = tell;
  }

  listing(): void {
    this.#listed = new Map();
  }

  page(items: readonly Plain[]): void {
    for (const item of items) this.#note(item, this.#listed ?? this.#known);
  }

  listed(): void {
    const [before, after] = [this.#known, this.#listed ?? this.#known];
    this.#known = after;
    this.#listed = null;
    if (this.#first) {
      this.#first = false;
      return;
    }
    for (const [uid, { id, version }] of after) {
      if (before.get(uid)?.version !== version) this.#tell({ type: "changed", id });
    }
    for (const [uid, { id }] of before) if (!after.has(uid)) this.#tell({ type: this.#goneIs, id });
  }

  changed(object: Plain): void {
    const known = this.#note(object, this.#known);
    if (known !== null) this.#tell({ type: "changed", id: known.id });
  }

  deleted(object: Plain): void {
    const known = this.#note(object, this.#known);
    this.#known.delete(uidOf(object));
    if (known !== null) this.#tell({ type: this.#goneIs, id: known.id });
  }

  #note(object: Plain, into: Map<string, Known>): Known | null {
    const id = textAt(object, "metadata", "labels", SANDBOX_LABEL);
    if (id === null) return null;
    const known = { id, version: resourceVersionOf(object) };
    into.set(uidOf(object), known);
    return known;
  }
}
