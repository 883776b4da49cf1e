import { Reconciler, type Clock, type ReconcileOutcome } from "slipway";
import { backendMatches } from "../decide/isolation.js";
import type { PhaseFacts } from "../decide/phase-facts.js";
import type { Driver } from "../driver/driver.js";
import type { BackendLooks } from "./backend-looks.js";
import { messageOf, type Log } from "./log.js";
import type { GatewayObserver } from "./observer.js";
import { PhaseStore, type RollCall } from "./phase-store.js";
import { policyOf, type PolicyOptions } from "./policy.js";
import type { SandboxRecords } from "./sandbox-records.js";
import type { Sessions } from "./sessions.js";

export interface ReconcilingOptions {
  readonly records: SandboxRecords;
  readonly looks: BackendLooks;
  readonly sessions: Sessions;
  readonly drivers: readonly Driver[];
  readonly policy: PolicyOptions;
  readonly clock: Clock;
  readonly log: Log;
  /** The isolation backend that is selected, `null` for none. */
  readonly isolationBackend: string | null;
  readonly sweepEveryMs: number;
  readonly wake: (id: string) => void;
  readonly observer?: GatewayObserver | undefined;
  readonly rollCall: RollCall;
}

/** One reconciler for each driver: a backend that does not answer holds up nobody else's sandboxes. */
export class Reconciling {
  readonly #options: ReconcilingOptions;
  readonly #reconcilers: ReadonlyMap<string, Reconciler>;

  constructor(options: ReconcilingOptions) {
    this.#options = options;
    this.#reconcilers = new Map(options.drivers.map((driver) => [driver.name, this.#reconciler(driver)]));
  }

  start(): void {
    for (const reconciler of this.#reconcilers.values()) reconciler.start();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#reconcilers.values()].map((reconciler) => reconciler.close()));
  }

  /** One sweep of every backend, now: the restart scan is part of it. */
  async sweep(): Promise<void> {
    await Promise.all([...this.#reconcilers.values()].map((reconciler) => reconciler.sweep()));
  }

  #reconciler(driver: Driver): Reconciler {
    const { records, looks, sessions, clock, isolationBackend, sweepEveryMs, wake, log, rollCall } =
      this.#options;
    return new Reconciler({
      store: new PhaseStore({
        records,
        clock,
        driver: driver.name,
        wake,
        log,
        rollCall,
        news: (record) => ({ seen: looks.seen(record), session: sessions.of(record.id, clock.now()) }),
      }),
      source: looks.source(driver),
      clock,
      session: (id) => sessions.of(id, clock.now()),
      policy: policyOf(driver, this.#options.policy),
      backendMatches: (_id, record) => backendMatches((record as PhaseFacts).origin, isolationBackend),
      // Records are kept until their user deletes them.
      graceMs: Number.MAX_SAFE_INTEGER,
      sweepEveryMs,
      onOutcome: (outcome) => this.#tell(outcome),
    });
  }

  #tell({ id, outcome, error }: ReconcileOutcome): void {
    const { log, observer } = this.#options;
    observer?.reconciled(outcome);
    if (outcome === "failed") log("reconcile-failed", { sandbox: id, error: messageOf(error) });
    // Once: the record leaves the scan by leaving `Starting`.
    if (outcome === "mismatch") log("isolation-backend-mismatch", { sandbox: id });
  }
}
