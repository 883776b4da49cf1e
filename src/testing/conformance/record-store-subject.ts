import type { RecordStore, SandboxRecord } from "../../phase/index.js";

/**
 * A record store under test. The port itself creates no records, so the test says how its store does.
 *
 * @public
 */
export interface RecordStoreSubject {
  /** The implementation under test. */
  readonly store: RecordStore;
  /** Puts a record that is not there yet. */
  create(id: string, record: SandboxRecord): Promise<unknown>;
  /** A second way to the same records, as another replica has it. Default: the same store. */
  readonly other?: RecordStore | undefined;
}
