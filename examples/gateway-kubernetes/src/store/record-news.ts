import type { ChangeListener } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import { storedRecord, type RecordObject } from "./record-object.js";

/** A write of another gateway: what it made of the record, `null` for a removal. */
export interface RecordChanged {
  readonly id: string;
  readonly version: number;
  readonly record: RecordObject | null;
}

/**
 * News wait so long to be told: of a sandbox that is written a few times in a row the latest is enough, and whoever
 * wrote has begun what follows from it before everybody else looks whether there is something to do.
 */
const SPACING_MS = 250;

/** Tells the gateway of what other gateways wrote: the latest of each record, a little later. */
export class RecordNews implements Disposable {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, RecordChanged>();
  #listener: ChangeListener | null = null;
  #alarm: Disposable | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From here on; what was written before is to be read. */
  follow(listener: ChangeListener): void {
    this.#listener = listener;
    listener.noticeGap();
  }

  note(change: RecordChanged): void {
    if (this.#listener === null) return;
    this.#waiting.set(change.id, change);
    this.#alarm ??= this.#clock.schedule(this.#clock.now() + SPACING_MS, () => this.#tell());
  }

  [Symbol.dispose](): void {
    this.#listener = null;
    this.#waiting.clear();
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = null;
  }

  #tell(): void {
    this.#alarm = null;
    const changes = [...this.#waiting.values()];
    this.#waiting.clear();
    // A record that cannot be read is told by whoever reads it.
    for (const change of changes) this.#tellOne(change).catch(() => undefined);
  }

  async #tellOne({ id, version, record }: RecordChanged): Promise<void> {
    await this.#listener?.noticeChange({ id, version, found: record && storedRecord(record) });
  }
}
