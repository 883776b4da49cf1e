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

/** While the stream is broken nothing is told: so often whoever waits for something looks for himself. */
const DOUBT_EVERY_MS = 1000;

/** Tells the gateway of what other gateways wrote: the latest of each record, a little later. */
export class RecordNews implements Disposable {
  readonly #clock: Clock;
  readonly #isLive: () => boolean;
  readonly #waiting = new Map<string, RecordChanged>();
  #listener: ChangeListener | null = null;
  #alarm: Disposable | null = null;
  #doubt: Disposable | null = null;

  /** @param isLive - Whether what others write is heard of at present. */
  constructor(clock: Clock, isLive: () => boolean) {
    this.#clock = clock;
    this.#isLive = isLive;
  }

  /** From here on; what was written before is to be read. */
  follow(listener: ChangeListener): void {
    this.#listener = listener;
    listener.noticeGap();
    this.doubt();
  }

  /** The stream may be broken: raises doubt until it is not. What happened by then, it tells itself once it goes on. */
  doubt(): void {
    if (this.#listener === null || this.#isLive()) return;
    this.#doubt ??= this.#clock.schedule(this.#clock.now() + DOUBT_EVERY_MS, () => {
      this.#doubt = null;
      this.#listener?.noticeWrites();
      this.doubt();
    });
  }

  /** This process wrote or removed a record by itself: what waits to be told of it is not how it is any more. */
  outdate({ id, uid, version }: RecordObject): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    const { record } = waiting;
    if (record === null || (record.uid === uid && record.version <= version)) this.#waiting.delete(id);
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
    this.#doubt?.[Symbol.dispose]();
    this.#doubt = null;
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
