import { createHash } from "node:crypto";
import type { Clock } from "slipway";
import type { WatchEvent } from "slipway/phase";
import type { ReflectorSink } from "../api/reflector.js";
import { textAt, uidOf, type Plain } from "../api/plain.js";
import { PUBLISHED_KEYS, SANDBOX_LABEL } from "../resource/names.js";

/** Each piece of news is a look of four requests, by every gateway: a sandbox that changes all the time gets so many. */
const SPACING_MS = 250;

/**
 * News that wait to be read: the latest of each sandbox, and the next of one that was told of only a while later, so
 * that a slow reader, and a sandbox that changes ten times in a second, cost no more than the sandboxes do.
 */
export class NewsQueue {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, WatchEvent>();
  /** Told of lately, with what came since then. */
  readonly #resting = new Map<string, WatchEvent | null>();
  #wake: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  push(event: WatchEvent): void {
    if (this.#resting.has(event.id)) {
      this.#resting.set(event.id, event);
      return;
    }
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
        this.#rest(first[0]);
        yield first[1];
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  #rest(id: string): void {
    this.#resting.set(id, null);
    const over = (): void => {
      const later = this.#resting.get(id) ?? null;
      this.#resting.delete(id);
      if (later !== null) this.push(later);
    };
    this.#clock.schedule(this.#clock.now() + SPACING_MS, over, { unref: true });
  }
}

interface Known {
  readonly id: string;
  readonly content: string;
}

/**
 * Turns what a reflector tells into news. It keeps a digest of each object and nothing else, and tells only of what
 * differs from before: a bookkeeping write, or the phase that a gateway publishes on the object, is no news. The first
 * list tells nothing: whoever opens a watch sweeps as well.
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
    for (const [uid, { id, content }] of after) {
      if (before.get(uid)?.content !== content) this.#tell({ type: "changed", id });
    }
    for (const [uid, { id }] of before) if (!after.has(uid)) this.#tell({ type: this.#goneIs, id });
  }

  changed(object: Plain): void {
    const before = this.#known.get(uidOf(object));
    const known = this.#note(object, this.#known);
    if (known !== null && known.content !== before?.content) this.#tell({ type: "changed", id: known.id });
  }

  deleted(object: Plain): void {
    const known = this.#note(object, this.#known);
    this.#known.delete(uidOf(object));
    if (known !== null) this.#tell({ type: this.#goneIs, id: known.id });
  }

  #note(object: Plain, into: Map<string, Known>): Known | null {
    const id = textAt(object, "metadata", "labels", SANDBOX_LABEL);
    if (id === null) return null;
    const known = { id, content: contentOf(object) };
    into.set(uidOf(object), known);
    return known;
  }
}

/** Everything but the version, who wrote which field, and what gateways publish for people. */
function contentOf(object: Plain): string {
  const meant = (key: string, value: unknown): unknown =>
    key === "resourceVersion" || key === "managedFields" || PUBLISHED_KEYS.has(key) ? undefined : value;
  return createHash("sha256").update(JSON.stringify(object, meant)).digest("base64").slice(0, 22);
}
