import { MemoryRecordStore, VirtualClock } from "../../src/testing/index.js";
import { present, type Observation } from "../../src/phase/observation.js";
import type { ObservationSource, StoredRecord, WatchEvent } from "../../src/phase/ports.js";
import type { ReconcilerOptions } from "../../src/phase/reconciler-options.js";
import { Reconciler } from "../../src/phase/reconciler.js";
import type { SandboxRecord } from "../../src/phase/record.js";

export const running: Observation = {
  ...present(null),
  running: true,
  ready: true,
  readiness: "signal",
  terminating: false,
};
export const rest: Observation = { ...present(null), running: false, ready: false, suspended: true };
export const none = (): Promise<void> => Promise.resolve();

// eslint-disable-next-line @typescript-eslint/require-await
export async function* nothing(): AsyncIterable<WatchEvent> {
  yield* [];
}

/** A store in which somebody else may write just before a write or a read of ours. */
export class Shared extends MemoryRecordStore {
  beforeWrite: () => void = () => undefined;
  beforeRead: () => void = () => undefined;

  override get(id: string): Promise<StoredRecord | null> {
    this.beforeRead();
    return super.get(id);
  }

  override compareAndSwap(
    id: string,
    version: string | number,
    next: SandboxRecord,
  ): Promise<StoredRecord | null> {
    this.beforeWrite();
    return super.compareAndSwap(id, version, next);
  }
}

export function world(
  record: SandboxRecord | null,
  seen: Observation,
  more: Partial<ReconcilerOptions> = {},
) {
  const store = new Shared();
  const clock = new VirtualClock();
  const looks: string[] = [];
  const source: ObservationSource = {
    list: () => Promise.resolve({ items: [], cursor: null }),
    get: (id) => {
      looks.push(id);
      return Promise.resolve({ id, observation: seen });
    },
    watch: nothing,
  };
  if (record !== null) store.put("sb", record);
  return { store, clock, looks, reconciler: new Reconciler({ store, source, clock, ...more }) };
}

export const ready: SandboxRecord = { phase: "Ready", desired: "running", since: 0 };
export const stopped: SandboxRecord = { phase: "Stopped", desired: "stopped", since: 0 };

/** Another writer that touches the record without a change of anybody's intent. */
export const touch = (store: Shared): void => {
  const record = store.peek("sb");
  if (record !== null) store.put("sb", { ...record });
};
