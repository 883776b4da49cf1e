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

/** A record store that also tells people, by the sandbox's resource, what its records say. */
export class PublishedStore implements RecordStore {
  readonly #store: RecordStore;
  readonly #publisher: PhasePublisher;
  /** Names of records that were read here: a write names its record by id. */
  readonly #names = new Map<string, string>();
  /** What was last told of a record: most writes change nothing that people see. */
  readonly #told = new Map<string, string>();

  constructor(store: RecordStore, publisher: PhasePublisher) {
    this.#store = store;
    this.#publisher = publisher;
  }

  async insert(record: Omit<StoredRecord, "version">): Promise<InsertResult> {
    const result = await this.#store.insert(record);
    if (result === "inserted") this.#names.set(record.id, record.name);
    return result;
  }

  async get(id: string): Promise<StoredRecord | null> {
    const found = await this.#store.get(id);
    if (found === null) this.#forget(id);
    else this.#names.set(id, found.name);
    return found;
  }

  findByName(name: string): Promise<StoredRecord | null> {
    return this.#store.findByName(name);
  }

  async compareAndSwap(id: string, version: number, change: RecordChange): Promise<boolean> {
    const swapped = await this.#store.compareAndSwap(id, version, change);
    const name = this.#names.get(id);
    if (swapped && name !== undefined) this.#publish(id, name, version + 1, change.value);
    return swapped;
  }

  async delete(id: string, version: number): Promise<boolean> {
    const deleted = await this.#store.delete(id, version);
    if (deleted) this.#forget(id);
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

  #forget(id: string): void {
    this.#names.delete(id);
    this.#told.delete(id);
  }

  #publish(id: string, name: string, version: number, value: JsonObject): void {
    const phase = textAt(value, "phase");
    if (phase === null) return;
    const reason = textAt(value, "reason") ?? "";
    const message = textAt(value, "message") ?? "";
    const told = `${phase}/${reason}/${message}`;
    if (this.#told.get(id) === told) return;
    this.#told.set(id, told);
    this.#publisher.note({ id, name, version, phase, reason, message });
  }
}
