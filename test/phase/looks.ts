import { beforeEach } from "vitest";
import { MemoryRecordStore, VirtualClock } from "../../src/testing/index.js";
import { absent, present, type Observation } from "../../src/phase/observation.js";
import type { ObservationSource } from "../../src/phase/ports.js";
import type { ReconcileOutcome } from "../../src/phase/reconcile-outcome.js";
import type { ReconcilerOptions } from "../../src/phase/reconciler-options.js";
import { Reconciler } from "../../src/phase/reconciler.js";
import type { SandboxRecord } from "../../src/phase/record.js";

export const ready: Observation = { ...present(null), running: true, ready: true, readiness: "signal" };
export const waiting: Observation = { ...present(null), running: false, ready: false };

export let clock: VirtualClock;
export let store: MemoryRecordStore;
export let seen: Map<string, Observation>;
export let asked: unknown[][];
export let reported: ReconcileOutcome[];

/** Gives every test of the file that calls it a clock, a store and a backend of its own. */
export function anewForEachTest(): void {
  beforeEach(() => {
    clock = new VirtualClock();
    store = new MemoryRecordStore();
    [seen, asked, reported] = [new Map(), [], []];
  });
}

export const source: ObservationSource = {
  list: () => {
    const items = [...seen].map(([id, observation]) => ({ id, observation }));
    return Promise.resolve({ items, cursor: null });
  },
  get: (...args) => {
    asked.push(args);
    return Promise.resolve({ id: args[0], observation: seen.get(args[0]) ?? absent(null) });
  },
  async *watch() {},
};

export const make = (options: Partial<ReconcilerOptions> = {}): Reconciler =>
  new Reconciler({ store, source, clock, onOutcome: (outcome) => reported.push(outcome), ...options });

export const record = (phase: SandboxRecord["phase"], more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase,
  desired: "running",
  since: clock.now() - 10_000_000,
  ...more,
});
