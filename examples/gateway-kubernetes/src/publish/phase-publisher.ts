import { headOf } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import { exponentialBackoff } from "slipway/retry";
import { isConflict, isObjectMissing } from "../api/api-error.js";
import { pause } from "../api/pause.js";
import { textAt, type Plain } from "../api/plain.js";
import type { SandboxObjects } from "../driver/sandbox-objects.js";
import { MESSAGE_KEY, PHASE_KEY, REASON_KEY, SANDBOX_LABEL, VERSION_KEY } from "../resource/names.js";

/** What `kubectl get sandboxes` shows of a record, and which version of the record that is. */
export interface PublishedPhase {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
}

const LONGEST_MESSAGE = 300;
const TRIES = 5;
const AGAIN = exponentialBackoff({ initialMs: 500, factor: 2, capMs: 10_000, jitter: "full" });

/**
 * Writes phase, reason and message of the gateway's record on the sandbox's resource, for people. Nobody decides on
 * them: what cannot be written is left out, one write at a time, and an older version never follows a newer one.
 */
export class PhasePublisher {
  readonly #objects: SandboxObjects;
  readonly #clock: Clock;
  readonly #random: (() => number) | undefined;
  readonly #closing = new AbortController();
  readonly #waiting = new Map<string, PublishedPhase>();
  #running: Promise<void> | null = null;

  constructor(objects: SandboxObjects, clock: Clock, random?: () => number) {
    this.#objects = objects;
    this.#clock = clock;
    this.#random = random;
  }

  /** Only the latest of each sandbox is written. */
  note(published: PublishedPhase): void {
    if (this.#closing.signal.aborted) return;
    this.#waiting.set(published.id, published);
    this.#running ??= this.#run();
  }

  /** Resolves once everything noted so far was written, or left out. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the gateway is shutting down"));
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let next = this.#take(); next !== null; next = this.#take()) {
      await this.#write(next).catch(() => undefined);
    }
    this.#running = null;
  }

  #take(): PublishedPhase | null {
    const [first] = this.#waiting;
    if (first === undefined || this.#closing.signal.aborted) return null;
    this.#waiting.delete(first[0]);
    return first[1];
  }

  async #write(published: PublishedPhase): Promise<void> {
    const { signal } = this.#closing;
    const { id, name } = published;
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const found = await this.#objects.get(name, signal);
      if (found === null || textAt(found, "metadata", "labels", SANDBOX_LABEL) !== id) return;
      if (isPublished(found, published)) return;
      try {
        await this.#objects.patch(found, name, annotations(published), signal);
        return;
      } catch (error) {
        if (isObjectMissing(error, name) || !isConflict(error)) throw error;
        await pause(this.#clock, AGAIN.delayMs(tries, { random: this.#random }), signal);
      }
    }
  }
}

function isPublished(sandbox: Plain, { version, phase, reason, message }: PublishedPhase): boolean {
  const there = Number(textAt(sandbox, "metadata", "annotations", VERSION_KEY) ?? "0");
  if (there >= version) return true;
  const shown = (key: string): string | null => textAt(sandbox, "metadata", "annotations", key);
  const same = (key: string, text: string): boolean => (shown(key) ?? "") === text;
  return same(PHASE_KEY, phase) && same(REASON_KEY, reason) && same(MESSAGE_KEY, shortened(message));
}

function annotations({ version, phase, reason, message }: PublishedPhase): Plain {
  return {
    metadata: {
      annotations: {
        [PHASE_KEY]: phase,
        [REASON_KEY]: reason,
        [MESSAGE_KEY]: shortened(message),
        [VERSION_KEY]: String(version),
      },
    },
  };
}

function shortened(message: string): string {
  return headOf(message, LONGEST_MESSAGE);
}
