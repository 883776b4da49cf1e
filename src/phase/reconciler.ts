import { applyBackendMismatch } from "./accept-operation.js";
import type { PhaseDecision } from "./derive-phase.js";
import type { Operation } from "./gates/index.js";
import { KeyedLock, Limiter } from "./keyed-lock.js";
import { absent, type Observation } from "./observation.js";
import {
  runOperation,
  type OperateOptions,
  type OperationOutcome,
  type RunningOperation,
} from "./operate.js";
import {
  resolveOptions,
  type ReconcilerOptions,
  type ResolvedReconcilerOptions,
} from "./reconciler-options.js";
import { ReconcileLoop } from "./reconcile-loop.js";
import { reconcileRecord } from "./reconcile-record.js";
import { expectedRun, type SandboxRecord } from "./record.js";
import { eachItem } from "./each-item.js";
import type { StoredRecord } from "./ports.js";
import type { ReconcileOutcome, SweepReport } from "./reconcile-outcome.js";

const NOT_LISTED: Observation = Object.freeze(absent(null));

/** Whether a record may be removed when its backend has nothing. */
type Pruning = "never" | "after-grace" | "at-once";

/**
 * Keeps records true to their backend: looks, decides by {@link reconcileRecord}, and writes by compare-and-swap.
 *
 * A sweep lists the backend and touches only what would change, and that it looks at once more by itself: a list entry
 * is older than a direct look. A record is removed only after a complete list, a direct not-found and the grace
 * period. Driver operations run one at a time per sandbox; a conflict is never retried blindly. Nothing here creates a
 * record.
 *
 * @example
 * ```ts
 * import { systemClock } from "slipway";
 * import { Reconciler, type ObservationSource } from "slipway/phase";
 * import { MemoryRecordStore } from "slipway/testing";
 *
 * const source: ObservationSource = {
 *   list: async () => ({ items: [], cursor: null }), // what the backend has, page by page
 *   get: async () => null, // a direct look at one
 *   async *watch() {}, // news
 * };
 * const reconciler = new Reconciler({ store: new MemoryRecordStore(), source, clock: systemClock });
 * await reconciler.sweep();
 * ```
 *
 * @public
 */
export class Reconciler {
  readonly #options: ResolvedReconcilerOptions;
  readonly #looks = new KeyedLock();
  readonly #operations = new KeyedLock();
  readonly #running = new Map<string, RunningOperation>();
  readonly #limiter: Limiter;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #loop: ReconcileLoop | null = null;

  /**
   * @throws {@link SlipwayError} `INVALID_OPTION` when there are no options, a number is out of range, or a port or a hook is none.
   */
  constructor(options: ReconcilerOptions) {
    this.#options = resolveOptions(options);
    this.#limiter = new Limiter(this.#options.concurrency);
  }

  /** Looks at one sandbox now. Never removes a record that was not being deleted. */
  reconcile(id: string): Promise<ReconcileOutcome> {
    return this.#look(id, "never");
  }

  /**
   * Takes the backend's word that a sandbox is gone: confirms it by a direct look and removes what that leaves to be
   * removed, without the grace period. What was promised to be kept becomes an error, and a result stays.
   */
  deleted(id: string): Promise<ReconcileOutcome> {
    return this.#look(id, "at-once");
  }

  /** Lists the backend once and brings every record up to date. Never throws for a backend that does not answer. */
  sweep(): Promise<SweepReport> {
    return this.#track(this.#sweep());
  }

  async #sweep(): Promise<SweepReport> {
    let listed: ReadonlyMap<string, Observation>;
    try {
      listed = await this.#list();
    } catch (error) {
      return { seen: 0, outcomes: [], complete: false, error };
    }
    const { store } = this.#options;
    const looks: Promise<ReconcileOutcome>[] = [];
    let seen = 0;
    let outcomes: readonly ReconcileOutcome[];
    const take = (stored: StoredRecord): void => {
      seen += 1;
      if (!this.#isSettled(stored, listed.get(stored.id))) looks.push(this.#lookAside(stored.id));
    };
    try {
      await eachItem("store.list", (cursor) => store.list(cursor), take);
    } finally {
      // Also where the store breaks off: whoever closes waits for the sweep, and with it for the looks that wait in line.
      outcomes = await Promise.all(looks);
    }
    const changes = outcomes.filter(({ outcome }) => outcome !== "unchanged");
    return { seen, outcomes: changes, complete: true, error: null };
  }

  /**
   * Carries an operation out: gate, durable intent by compare-and-swap, driver call, and on failure a look and
   * {@link resolveFailedOperation}. A different operation aborts the signal of the one that runs, waits for its end
   * and takes over; the same one joins it. An operation that was overtaken makes no driver call.
   * The driver call in the options gets the route, the record as written and a signal.
   *
   * Rejects with {@link SlipwayError} `INVALID_OPTION` for an unknown operation or a call that is none.
   */
  operate(id: string, operation: Operation, options: OperateOptions): Promise<OperationOutcome> {
    const host = {
      options: this.#options,
      locks: this.#operations,
      running: this.#running,
      closing: this.#closing.signal,
      observe: (stored: StoredRecord) => this.#observe(stored),
    };
    return this.#track(runOperation(host, id, operation, options));
  }

  /** Starts watching and sweeping, until {@link Reconciler.close}. */
  start(): void {
    this.#loop ??= new ReconcileLoop(this.#options, this, this.#limiter, this.#closing.signal);
  }

  /**
   * Stops watching and sweeping and waits for what is under way, looks and sweeps that were asked for included. Running
   * driver calls are aborted and waited for too, with the record of how they ended, so that the store may be closed
   * afterwards: a driver that ignores its signal holds this up, and so does a source or a store whose `list` or `get`
   * goes on after the signal, or never settles. No driver call begins any more.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { controller } of this.#running.values()) controller.abort();
    await this.#loop?.done;
    await Promise.allSettled(this.#underWay);
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const forget = (): unknown => this.#underWay.delete(work);
    this.#underWay.add(work);
    void work.then(forget, forget);
    return work;
  }

  /** The same as {@link Reconciler.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #list(): Promise<ReadonlyMap<string, Observation>> {
    const { source } = this.#options;
    const listed = new Map<string, Observation>();
    await eachItem(
      "source.list",
      (cursor) => source.list(cursor, this.#closing.signal),
      ({ id, observation }) => listed.set(id, observation),
    );
    return listed;
  }

  /**
   * The fast path of a sweep: no promise and no new record where the list agrees with the record. What is not listed
   * counts as absent here, and is looked at by itself before anything is made of that.
   */
  #isSettled({ id, record }: StoredRecord, listed: Observation | undefined): boolean {
    const observation = listed ?? NOT_LISTED;
    const { session, clock, policy } = this.#options;
    try {
      if (this.#isMismatch(id, record, observation)) return false;
      const { changed, decision } = reconcileRecord(record, observation, session(id), clock.now(), policy);
      return !changed && decision.phase !== "Deleted" && !decision.effects.includes("prune-candidate");
    } catch {
      // What cannot be decided of one record is said by the look at it, and does not end the sweep of the others.
      return false;
    }
  }

  /** A look that never rejects: one record that cannot be written must not end the sweep of the others. */
  #lookAside(id: string): Promise<ReconcileOutcome> {
    return this.#limiter
      .run(() => this.#look(id, "after-grace"))
      .catch((error: unknown) => {
        const outcome: ReconcileOutcome = { id, outcome: "failed", record: null, decision: null, error };
        this.#options.report(outcome);
        return outcome;
      });
  }

  #look(id: string, pruning: Pruning): Promise<ReconcileOutcome> {
    const look = this.#looks.run(id, async () => {
      const outcome = await this.#decide(id, pruning);
      if (outcome.outcome !== "unchanged") this.#options.report(outcome);
      return outcome;
    });
    return this.#track(look);
  }

  async #decide(id: string, pruning: Pruning): Promise<ReconcileOutcome> {
    const { store, session, clock, policy } = this.#options;
    const stored = await store.get(id);
    if (stored === null) return { id, outcome: "no-record", record: null, decision: null };
    const observation = await this.#observe(stored);
    const now = clock.now();
    if (this.#isMismatch(id, stored.record, observation)) {
      const mismatch = applyBackendMismatch(stored.record, now);
      if (mismatch.changed) return this.#write(stored, mismatch.record, null, "mismatch");
    }
    const { record, changed, decision } = reconcileRecord(
      stored.record,
      observation,
      session(id),
      now,
      policy,
    );
    if (decision.phase === "Deleted" || this.#mayPrune(stored.record, decision, pruning, now)) {
      const removed = await store.delete(id, stored.version);
      return { id, outcome: removed ? "removed" : "conflict", record: null, decision };
    }
    if (!changed) return { id, outcome: "unchanged", record, decision };
    return this.#write(stored, record, decision, "written");
  }

  async #write(
    { id, version }: StoredRecord,
    record: SandboxRecord,
    decision: PhaseDecision | null,
    outcome: "written" | "mismatch",
  ): Promise<ReconcileOutcome> {
    const written = await this.#options.store.compareAndSwap(id, version, record);
    return written === null
      ? { id, outcome: "conflict", record: null, decision }
      : { id, outcome, record: written.record, decision };
  }

  /** A start that cannot succeed, and nothing runs: a sandbox that does run is not stopped for a changed selection. */
  #isMismatch(id: string, record: SandboxRecord, observation: Observation | null): boolean {
    return (
      record.phase === "Starting" &&
      observation?.running !== true &&
      this.#options.backendMatches(id, record) === false
    );
  }

  #mayPrune(record: SandboxRecord, { effects }: PhaseDecision, pruning: Pruning, now: number): boolean {
    if (pruning === "never" || !effects.includes("prune-candidate")) return false;
    return pruning === "at-once" || now - record.since >= this.#options.graceMs;
  }

  /** An answer for another sandbox is an error, not an observation. */
  async #observe({ id, record }: StoredRecord): Promise<Observation | null> {
    try {
      const seen = await this.#options.source.get(id, expectedRun(record), this.#closing.signal);
      return seen?.id === id ? seen.observation : null;
    } catch {
      return null;
    }
  }
}
