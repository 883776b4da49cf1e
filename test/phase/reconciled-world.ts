import { MemoryRecordStore, VirtualClock } from "../../src/testing/index.js";
import { absent, present, type Observation } from "../../src/phase/observation.js";
import type { ObservationSource, WatchEvent } from "../../src/phase/ports.js";
import type { ReconcileOutcome } from "../../src/phase/reconcile-outcome.js";
import type { ReconcilerOptions } from "../../src/phase/reconciler-options.js";
import { Reconciler } from "../../src/phase/reconciler.js";
import type { SandboxRecord } from "../../src/phase/record.js";

export const ready: Observation = { ...present(null), running: true, ready: true, readiness: "signal" };

/** A backend in memory, with pages of two, a switch to fail, and a stream of news. */
class Backend implements ObservationSource {
  readonly seen = new Map<string, Observation>();
  lists = 0;
  gets = 0;
  watches = 0;
  failing = false;
  #news: ((event: WatchEvent | null) => void) | null = null;

  list(cursor: string | null): ReturnType<ObservationSource["list"]> {
    this.lists += cursor === null ? 1 : 0;
    if (this.failing) return Promise.reject(new Error("no answer"));
    const ids = [...this.seen.keys()].sort();
    const from = cursor === null ? 0 : Number(cursor);
    const items = ids.slice(from, from + 2).map((id) => ({ id, observation: this.seen.get(id)! }));
    return Promise.resolve({ items, cursor: from + 2 < ids.length ? String(from + 2) : null });
  }

  get(id: string): ReturnType<ObservationSource["get"]> {
    this.gets += 1;
    if (this.failing) return Promise.reject(new Error("no answer"));
    return Promise.resolve({ id, observation: this.seen.get(id) ?? absent(null) });
  }

  async *watch(signal: AbortSignal): AsyncIterable<WatchEvent> {
    this.watches += 1;
    if (this.failing) throw new Error("no stream");
    while (!signal.aborted) {
      const event = await new Promise<WatchEvent | null>((resolve) => {
        this.#news = resolve;
        signal.addEventListener("abort", () => resolve(null), { once: true });
      });
      if (event === null) return;
      yield event;
    }
  }

  tell(event: WatchEvent | null): void {
    this.#news?.(event);
  }
}

export function world(more: Partial<ReconcilerOptions> = {}): {
  backend: Backend;
  store: MemoryRecordStore;
  clock: VirtualClock;
  reconciler: Reconciler;
  outcomes: ReconcileOutcome[];
  errors: unknown[];
} {
  const backend = new Backend();
  const store = new MemoryRecordStore({ pageSize: 3 });
  const clock = new VirtualClock();
  const outcomes: ReconcileOutcome[] = [];
  const errors: unknown[] = [];
  const reconciler = new Reconciler({
    store,
    source: backend,
    clock,
    onOutcome: (outcome) => {
      outcomes.push(outcome);
      throw new Error("a listener that throws");
    },
    onError: (error) => void errors.push(error),
    ...more,
  });
  return { backend, store, clock, reconciler, outcomes, errors };
}

export const record = (phase: SandboxRecord["phase"], since = 0): SandboxRecord => ({
  phase,
  desired: "running",
  since,
});
