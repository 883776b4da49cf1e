import type { SandboxRecord } from "../record/record.js";

/** A committed write, as everybody who follows this gateway hears of it. */
export interface RecordEvent {
  /** Grows by one with each event of this process. */
  readonly seq: number;
  readonly id: string;
  readonly version: number;
  /** `null` when the record was removed. */
  readonly record: SandboxRecord | null;
}

type Listener = (event: RecordEvent) => void;

interface Follower {
  readonly listener: Listener;
  readonly onLapse: () => void;
  readonly onDoubt: () => void;
}

const KEPT = 1000;

/** Tells listeners of committed writes, and keeps the latest ones for a listener that was away for a moment. */
export class EventHub {
  /** Names this process: numbers of another one mean nothing here. */
  readonly epoch: string;
  readonly #followers = new Set<Follower>();
  #kept: RecordEvent[] = [];
  #seq = 0;
  /** The latest version that was told of each record that is there. */
  readonly #told = new Map<string, number>();

  constructor(epoch: string) {
    this.epoch = epoch;
  }

  get latest(): number {
    return this.#seq;
  }

  publish(id: string, version: number, record: SandboxRecord | null): void {
    if (record === null) this.#told.delete(id);
    else this.#told.set(id, Math.max(version, this.#told.get(id) ?? 0));
    this.#seq += 1;
    const event = { seq: this.#seq, id, version, record };
    this.#kept.push(event);
    if (this.#kept.length > 2 * KEPT) this.#kept = this.#kept.slice(-KEPT);
    for (const { listener } of [...this.#followers]) listener(event);
  }

  /** A record was found at the start: nothing is told of it, and its removal will be. */
  know(id: string, version: number): void {
    this.#told.set(id, Math.max(version, this.#told.get(id) ?? 0));
  }

  /** The records that are there, as far as was heard. */
  known(): Iterable<string> {
    return this.#told.keys();
  }

  /** Whether this version of a record, or a later one, was told of. */
  hasTold(id: string, version: number): boolean {
    return (this.#told.get(id) ?? 0) >= version;
  }

  /**
   * Tells of a record as it was found in the store, unless this version was told of: most of what a store's change
   * feed brings is this process's own doing. `null` for a record that is gone.
   */
  announce(id: string, version: number | null, record: SandboxRecord | null): void {
    const told = this.#told.get(id);
    if (record === null) {
      if (told !== undefined) this.publish(id, told + 1, null);
    } else if (version !== null && version > (told ?? 0)) this.publish(id, version, record);
  }

  /** What was published after `seq`, or `null` when not all of it is here any more. */
  since(seq: number): readonly RecordEvent[] | null {
    const first = this.#kept[0]?.seq ?? this.#seq + 1;
    if (seq > this.#seq || seq + 1 < first) return null;
    return this.#kept.filter((event) => event.seq > seq);
  }

  /** Writes of others may have been missed: who follows is told, and who comes back finds no events from before. */
  lapse(): void {
    this.#kept = [];
    this.#seq += 1;
    for (const { onLapse, onDoubt } of [...this.#followers]) {
      onLapse();
      onDoubt();
    }
  }

  /** Somebody else may have written something: who waits for one record looks at it. */
  doubt(): void {
    for (const { onDoubt } of [...this.#followers]) onDoubt();
  }

  /**
   * @param onLapse - Called when events may be missing: what was followed is to be read anew.
   * @param onDoubt - Called then, and whenever somebody else may have written: what is waited for is to be looked at.
   */
  subscribe(
    listener: Listener,
    onLapse: () => void = () => undefined,
    onDoubt: () => void = () => undefined,
  ): Disposable {
    const follower = { listener, onLapse, onDoubt };
    this.#followers.add(follower);
    return { [Symbol.dispose]: () => void this.#followers.delete(follower) };
  }
}
