import type {
  ClaimDue,
  InsertResult,
  JsonObject,
  RecordChange,
  RecordPage,
  RecordStore,
  StoredRecord,
} from "@slipway-examples/gateway-core";
import { textAt } from "../api/plain.js";
import type { PhasePublisher } from "./phase-publisher.js";
import { shownMessage } from "./shown-message.js";

/** So many sandboxes are remembered as told; one that was forgotten costs a look at its resource with its next write. */
const REMEMBERED = 10_000;

/** A record store that also tells people, by the sandbox's resource, what its records say. */
export class PublishedStore implements RecordStore {
  readonly #store: RecordStore;
  readonly #publisher: PhasePublisher;
  readonly #remembered: number;
  /**
   * What was last told of a record, the latest last: most writes change nothing that people see. Other gateways remove
   * records as well, so that the oldest are let go.
   */
  readonly #told = new Map<string, string>();

  constructor(store: RecordStore, publisher: PhasePublisher, remembered = REMEMBERED) {
    this.#store = store;
    this.#publisher = publisher;
    this.#remembered = remembered;
  }

  /** How many records it remembers something of. */
  get remembered(): number {
    return this.#told.size;
  }

  insert(record: Omit<StoredRecord, "version">): Promise<InsertResult> {
    return this.#store.insert(record);
  }

  get(id: string): Promise<StoredRecord | null> {
    return this.#store.get(id);
  }

  findByName(name: string): Promise<StoredRecord | null> {
    return this.#store.findByName(name);
  }

  async compareAndSwap(id: string, version: number, change: RecordChange): Promise<boolean> {
    const swapped = await this.#store.compareAndSwap(id, version, change);
    if (swapped) this.#publish(id, version + 1, change.value);
    return swapped;
  }

  async delete(id: string, version: number): Promise<boolean> {
    const deleted = await this.#store.delete(id, version);
    if (deleted) this.#told.delete(id);
    return deleted;
  }

  list(options: { readonly after?: string | undefined; readonly limit: number }): Promise<RecordPage> {
    return this.#store.list(options);
  }

  claimDue(claim: ClaimDue): Promise<readonly StoredRecord[]> {
    return this.#store.claimDue(claim);
  }

  earliestDue(): Promise<number | null> {
    return this.#store.earliestDue();
  }

  async close(): Promise<void> {
    await this.#publisher.close();
    await this.#store.close();
  }

  /** A write names its record by id; what it is called is in what is written. */
  #publish(id: string, version: number, value: JsonObject): void {
    const name = textAt(value, "name");
    const phase = textAt(value, "phase");
    if (name === null || phase === null) return;
    const reason = textAt(value, "reason") ?? "";
    const message = shownMessage(value);
    const told = `${phase}/${reason}/${message}`;
    const before = this.#told.get(id);
    this.#told.delete(id);
    this.#told.set(id, told);
    for (const oldest of this.#told.keys()) {
      if (this.#told.size <= this.#remembered) break;
      this.#told.delete(oldest);
    }
    if (before !== told) this.#publisher.note({ id, name, version, phase, reason, message });
  }
}
