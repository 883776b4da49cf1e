import { getObject } from "../api/get-object.js";
import type { KubeClient } from "../api/kube-client.js";
import { listAll } from "../api/list-pages.js";
import type { Plain } from "../api/plain.js";
import { GATEWAY_LABEL, LABEL_VALUE, SANDBOX_LABEL } from "../resource/names.js";
import type { RecordMirror } from "./record-mirror.js";
import { readRecord, type RecordObject } from "./record-object.js";

export interface RecordReadsOptions {
  readonly client: KubeClient;
  /** Of the collection that the records are in. */
  readonly path: string;
  readonly gateway: string;
  /** Knows the names of most ids. */
  readonly mirror: RecordMirror;
  readonly signal: AbortSignal;
}

const PAGE_SIZE = 500;

/** Single records, read from the server. */
export class RecordReads {
  readonly #options: RecordReadsOptions;

  constructor(options: RecordReadsOptions) {
    this.#options = options;
  }

  /** The record as the server has it now. */
  async find(id: string): Promise<RecordObject | null> {
    const name = this.#options.mirror.get(id)?.name;
    const found = name === undefined ? null : await this.read(name);
    return found?.id === id ? found : ((await this.withId(id))[0] ?? null);
  }

  /** The record of a name as the server has it now. */
  async read(name: string): Promise<RecordObject | null> {
    const object = await this.readObject(name);
    return object === null ? null : readRecord(object, this.#options.gateway);
  }

  /** The object of a name, whosever it is. */
  readObject(name: string): Promise<Plain | null> {
    return getObject(this.#options.client, this.#options.path, name, this.#options.signal);
  }

  /** Every record of an id: two inserts of one id at the same time leave two. */
  async withId(id: string): Promise<readonly RecordObject[]> {
    if (!LABEL_VALUE.test(id)) return [];
    const { client, path, gateway, signal } = this.#options;
    const query = { labelSelector: `${GATEWAY_LABEL}=${gateway},${SANDBOX_LABEL}=${id}` };
    let found: RecordObject[] = [];
    const take = {
      restart: () => {
        found = [];
      },
      page: (items: readonly Plain[]) => {
        found = found.concat(items.flatMap((item) => readRecord(item, gateway) ?? []));
      },
    };
    await listAll(client, { path, query, pageSize: PAGE_SIZE }, take, signal);
    return found;
  }
}
