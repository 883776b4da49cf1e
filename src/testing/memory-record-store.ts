import type { Page, RecordStore, SandboxRecord, StoredRecord } from "../phase/index.js";

/** How a {@link MemoryRecordStore} behaves. */
export interface MemoryRecordStoreOptions {
  /** Records in a page of a listing. Default 100. */
  readonly pageSize?: number | undefined;
}

/**
 * A record store in memory, with compare-and-swap, for tests and single-process demos.
 *
 * @example
 * ```ts
 * import { MemoryRecordStore } from "slipway/testing";
 *
 * const store = new MemoryRecordStore();
 * store.put("sb-1", { phase: "Stopped", desired: "stopped", since: 0 });
 * const read = await store.get("sb-1");
 * ```
 *
 * @public
 */
export class MemoryRecordStore implements RecordStore {
  readonly #records = new Map<string, StoredRecord>();
  readonly #pageSize: number;
  #version = 0;
  #writes = 0;

  /** A store without records. */
  constructor(options: MemoryRecordStoreOptions = {}) {
    this.#pageSize = options.pageSize ?? 100;
  }

  /** How many compare-and-swaps and deletes succeeded. */
  get writes(): number {
    return this.#writes;
  }

  /** Writes without asking, as creating a sandbox does. */
  put(id: string, record: SandboxRecord): StoredRecord {
    this.#version += 1;
    const stored: StoredRecord = { id, version: this.#version, record };
    this.#records.set(id, stored);
    return stored;
  }

  /** What is stored now, without a promise. */
  peek(id: string): SandboxRecord | null {
    return this.#records.get(id)?.record ?? null;
  }

  /** The stored record, or `null` when there is none. */
  get(id: string): Promise<StoredRecord | null> {
    return Promise.resolve(this.#records.get(id) ?? null);
  }

  list(cursor: string | null): Promise<Page<StoredRecord>> {
    const ids = [...this.#records.keys()].sort();
    const rest = cursor === null ? ids : ids.filter((id) => id > cursor);
    const items = rest.slice(0, this.#pageSize).flatMap((id) => this.#records.get(id) ?? []);
    const last = items.at(-1);
    return Promise.resolve({
      items,
      cursor: rest.length > this.#pageSize && last !== undefined ? last.id : null,
    });
  }

  compareAndSwap(id: string, version: string | number, next: SandboxRecord): Promise<StoredRecord | null> {
    if (this.#records.get(id)?.version !== version) return Promise.resolve(null);
    this.#writes += 1;
    return Promise.resolve(this.put(id, next));
  }

  delete(id: string, version: string | number): Promise<boolean> {
    if (this.#records.get(id)?.version !== version) return Promise.resolve(false);
    this.#writes += 1;
    return Promise.resolve(this.#records.delete(id));
  }
}
