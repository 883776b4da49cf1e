import fc from "fast-check";
import {
  applyExitReport,
  applySession,
  observeDockerInspect,
  Reconciler,
  type ExpectedRun,
  type ObservationSource,
  type ObservedSandbox,
  type OperationOutcome,
  type RecordStore,
  type SandboxRecord,
  type StoredRecord,
} from "../../src/phase/index.js";
import { MemoryRecordStore, VirtualClock } from "../../src/testing/index.js";

const START = 1_800_000_000_000;

/** A container engine with one container: every answer and every effect comes when the scheduler says so. */
class Engine {
  running: boolean;
  exitCode = 0;
  gone = false;
  finishedAt = 0;
  calls = 0;
  overlapping = 0;
  #busy = 0;
  readonly log: string[] = [];

  readonly scheduler: fc.Scheduler;
  readonly clock: VirtualClock;

  constructor(scheduler: fc.Scheduler, clock: VirtualClock, running: boolean) {
    this.scheduler = scheduler;
    this.clock = clock;
    this.running = running;
  }

  async call(verb: "start" | "stop" | "delete", failing: boolean): Promise<void> {
    this.calls += 1;
    this.#busy += 1;
    this.overlapping = Math.max(this.overlapping, this.#busy);
    this.log.push(verb);
    try {
      await this.scheduler.schedule(Promise.resolve(), `engine ${verb}`);
      if (failing) throw new Error(`${verb} failed`);
      if (verb === "start") this.running = !this.gone;
      else this.exit(143);
      if (verb === "delete") this.gone = true;
      await this.scheduler.schedule(Promise.resolve(), `engine ${verb} answers`);
    } finally {
      this.#busy -= 1;
    }
  }

  exit(code: number): void {
    if (!this.running) return;
    this.running = false;
    this.exitCode = code;
    this.finishedAt = this.clock.now();
  }

  look(run: ExpectedRun | undefined): ObservedSandbox {
    const inspect = {
      State: {
        Status: this.running ? "running" : "exited",
        Running: this.running,
        ExitCode: this.running ? 0 : this.exitCode,
        StartedAt: "2026-10-20T09:00:00Z",
        FinishedAt: this.finishedAt === 0 ? "0001-01-01T00:00:00Z" : new Date(this.finishedAt).toISOString(),
      },
    };
    const observedAt = this.clock.now();
    const observation = this.gone
      ? observeDockerInspect({ inspect: null, error: { status: 404 } }, { observedAt })
      : observeDockerInspect({ inspect }, { observedAt, ...(run === undefined ? {} : { run }) });
    return { id: "sb", observation };
  }
}

/** A store whose answers come when the scheduler says so, and which remembers every write. */
class SlowStore implements RecordStore {
  readonly inner = new MemoryRecordStore();
  readonly writes: { readonly from: SandboxRecord; readonly to: SandboxRecord | null }[] = [];

  readonly scheduler: fc.Scheduler;

  constructor(scheduler: fc.Scheduler) {
    this.scheduler = scheduler;
  }

  get(id: string): Promise<StoredRecord | null> {
    return this.scheduler.schedule(this.inner.get(id), "store get");
  }

  list(cursor: string | null): ReturnType<RecordStore["list"]> {
    return this.scheduler.schedule(this.inner.list(cursor), "store list");
  }

  async compareAndSwap(
    id: string,
    version: string | number,
    next: SandboxRecord,
  ): Promise<StoredRecord | null> {
    await this.scheduler.schedule(Promise.resolve(), "store compare-and-swap");
    const from = this.inner.peek(id);
    const written = await this.inner.compareAndSwap(id, version, next);
    if (written !== null && from !== null) this.writes.push({ from, to: next });
    return written;
  }

  async delete(id: string, version: string | number): Promise<boolean> {
    await this.scheduler.schedule(Promise.resolve(), "store delete");
    const from = this.inner.peek(id);
    const removed = await this.inner.delete(id, version);
    if (removed && from !== null) this.writes.push({ from, to: null });
    return removed;
  }
}

type Step =
  | {
      readonly kind: "start" | "stop" | "delete";
      readonly failing: boolean;
      readonly by: "user" | "automatic";
    }
  | { readonly kind: "news" | "sweep" | "connect" | "disconnect" | "crash" | "finish" | "report" | "tick" };

export const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("start" as const, "stop" as const, "delete" as const),
    failing: fc.boolean(),
    by: fc.constantFrom("user" as const, "user" as const, "automatic" as const),
  }),
  fc.record({
    kind: fc.constantFrom(
      "news" as const,
      "sweep" as const,
      "connect" as const,
      "disconnect" as const,
      "crash" as const,
      "finish" as const,
      "report" as const,
      "tick" as const,
    ),
  }),
);

export const initial: fc.Arbitrary<SandboxRecord> = fc.constantFrom<SandboxRecord>(
  {
    phase: "Starting",
    desired: "running",
    since: START,
    startRequestedAt: START,
    deadline: { deadlineAt: START + 3000, lastPhase: true },
  },
  {
    phase: "Provisioning",
    desired: "running",
    since: START,
    deadline: { deadlineAt: START + 3000, lastPhase: true },
  },
  { phase: "Ready", desired: "running", since: START, instanceId: "i-0" },
  { phase: "Stopped", desired: "stopped", since: START },
  { phase: "Completed", desired: "running", since: START, exitCode: 0, instanceId: "i-0", finishedAt: START },
  { phase: "Error", desired: "running", since: START, reason: "ProvisioningTimedOut" },
);

export interface World {
  readonly engine: Engine;
  readonly store: SlowStore;
  readonly outcomes: OperationOutcome[];
}

export async function play(
  scheduler: fc.Scheduler,
  record: SandboxRecord,
  steps: readonly Step[],
): Promise<World> {
  const clock = new VirtualClock({ startAt: START });
  const store = new SlowStore(scheduler);
  store.inner.put("sb", record);
  const engine = new Engine(scheduler, clock, record.phase === "Ready");
  const outcomes: OperationOutcome[] = [];
  const source: ObservationSource = {
    list: async () => {
      await scheduler.schedule(Promise.resolve(), "engine list");
      return { items: engine.gone ? [] : [engine.look(undefined)], cursor: null };
    },
    get: async (_id, run) => {
      const seen = engine.look(run);
      // The answer travels: what it says may be old when it arrives.
      await scheduler.schedule(Promise.resolve(), "engine inspect");
      return seen;
    },
    watch: async function* () {},
  };
  const reconciler = new Reconciler({ store, source, clock, graceMs: 0 });
  let instance = 0;
  /** A gateway's own write: read, apply, compare-and-swap; a conflict is dropped, as a lost message would be. */
  const write = async (apply: (record: SandboxRecord) => SandboxRecord): Promise<void> => {
    const stored = await store.get("sb");
    if (stored === null) return;
    const next = apply(stored.record);
    if (next !== stored.record) await store.compareAndSwap("sb", stored.version, next);
  };
  const run = async (one: Step): Promise<unknown> => {
    switch (one.kind) {
      case "start":
      case "stop":
      case "delete": {
        const { kind, failing, by } = one;
        const outcome = await reconciler.operate("sb", kind, {
          by,
          instanceId: `i-${(instance += 1)}`,
          call: () => engine.call(kind, failing),
        });
        return outcomes.push(outcome);
      }
      case "news":
        return reconciler.reconcile("sb");
      case "sweep":
        return reconciler.sweep();
      case "connect":
        return write(
          (now) =>
            applySession(now, { connected: true, instanceId: now.expectedInstanceId ?? "i-0" }, clock.now())
              .record,
        );
      case "disconnect":
        return write((now) => applySession(now, { connected: false }, clock.now()).record);
      case "crash": {
        engine.exit(137);
        return;
      }
      case "finish": {
        engine.exit(0);
        return;
      }
      case "report":
        return write(
          (now) =>
            applyExitReport(now, { instanceId: now.instanceId ?? "i-0", exitCode: 0 }, clock.now()).record,
        );
      case "tick": {
        clock.advance(1000);
        return;
      }
    }
  };
  const sequence = scheduler.scheduleSequence(
    steps.map((one, index) => ({
      label: `${index}. ${one.kind}`,
      // Not awaited in the sequence: every step runs into the ones before it.
      builder: () => {
        pending.push(run(one));
        return Promise.resolve();
      },
    })),
  );
  const pending: Promise<unknown>[] = [];
  await scheduler.waitFor(sequence.task);
  await scheduler.waitFor(Promise.all(pending));
  return { engine, store, outcomes };
}
