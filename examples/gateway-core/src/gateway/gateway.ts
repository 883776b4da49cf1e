import type { Clock } from "slipway";
import { explainExpiry } from "../decide/isolation.js";
import type { ConfigurationWrite, OperationResult, UpdateResult } from "../decide/operations.js";
import type { Standing } from "../decide/standing.js";
import type { ReportResult, SupervisorReport } from "../decide/supervisor-report.js";
import type { Driver } from "../driver/driver.js";
import { dueAt } from "../record/due.js";
import type { SandboxRecord } from "../record/record.js";
import type { NoticedChange } from "../store/change-listener.js";
import { queuedStore } from "../store/queued-store.js";
import type { RecordStore } from "../store/record-store.js";
import { EventHub } from "./event-hub.js";
import { Activations } from "./activations.js";
import { LocalKnowledge } from "./local-knowledge.js";
import { messageOf } from "./log.js";
import type { GatewayOptions } from "./gateway-options.js";
import { BackendLooks } from "./backend-looks.js";
import type { FailureCounts } from "./observer.js";
import type { PolicyOptions } from "./policy.js";
import { ReadinessCheck, type Readiness } from "./readiness.js";
import { Reconciling } from "./reconciling.js";
import { recover } from "./recovery.js";
import { ReasonBook } from "./reason-book.js";
import { Refusals } from "./refusals.js";
import { SandboxRecords, type VersionedRecord } from "./sandbox-records.js";
import { Sessions } from "./sessions.js";
import { shutdownSweep } from "./shutdown.js";
import { SupervisorDesk } from "./supervisor-desk.js";
import { Sweeper } from "./sweeper.js";
import { UserDesk, type Changed, type CreateRequest } from "./user-desk.js";
import { Workers } from "./workers.js";

const SWEEP_EVERY_MS = 10_000;
const LEASE_MS = 15_000;
/** So often whoever waits for a record looks at it where nobody tells of other gateways' writes, and where the store does. */
const LOOK_UNTOLD_MS = 1000;
const LOOK_TOLD_MS = 30_000;
/** What workers and news of other gateways' writes may ask of the store at once; requests, expiries and launches do not queue. */
const BACKGROUND_AT_ONCE = 6;

/** The gateway: takes requests and reports, decides them on the stored record, and wakes whoever does the work. */
export class Gateway {
  readonly records: SandboxRecords;
  readonly activations: Activations;
  readonly hub: EventHub;
  /** The same records, for work that comes in crowds and can wait its turn. */
  readonly #background: SandboxRecords;
  readonly refusals = new Refusals();
  readonly clock: Clock;
  readonly #options: GatewayOptions;
  readonly #drivers: ReadonlyMap<string, Driver>;
  readonly #workers: Workers;
  readonly #sweeper: Sweeper;
  readonly #looks: BackendLooks;
  readonly #sessions: Sessions;
  readonly #users: UserDesk;
  readonly #supervisors: SupervisorDesk;
  readonly #reconciling: Reconciling;
  readonly #policy: PolicyOptions;
  readonly #knowledge: LocalKnowledge;
  readonly #readiness: ReadinessCheck;
  readonly #closing = new AbortController();
  #recovered = false;
  #closed = false;

  constructor(options: GatewayOptions) {
    const { store, clock, log, newId, owner, budgets, observer } = options;
    this.#options = options;
    this.clock = clock;
    this.hub = new EventHub(newId().slice(0, 8));
    this.activations = new Activations(options.ledger, clock, {
      isThere: async (id) => (await store.get(id)) !== null,
      onUnsure: (id, error) => log("ledger-not-cleared", { sandbox: id, error: messageOf(error) }),
    });
    const isolationBackend = options.isolationBackend ?? null;
    const policy = { restartOn: [], ...options.policy };
    this.#policy = policy;
    const reasons = new ReasonBook(options.drivers, log);
    reasons.configured(policy.restartOn);
    const recordsOf = (of: RecordStore): SandboxRecords =>
      new SandboxRecords(
        of,
        clock,
        this.hub,
        (before, after, now) => explainExpiry(before, after, isolationBackend, now),
        (before, after) => observer?.written(before, after),
      );
    this.records = recordsOf(store);
    this.#background = recordsOf(queuedStore(store, BACKGROUND_AT_ONCE));
    const { records, hub, activations, refusals } = this;
    const drivers = new Map(options.drivers.map((driver) => [driver.name, driver]));
    this.#drivers = drivers;
    const wake = (id: string): void => this.#workers.wake(id);
    const onLook = (): void => this.#workers.recheck();
    this.#sweeper = new Sweeper({ records, owner, clock, log, wake, onLook });
    const sessions = new Sessions({ clock, log, owner, store: options.sessionStore });
    this.#sessions = sessions;
    const isBusy = (id: string): boolean =>
      this.#knowledge.owed.has(id) || this.#workers.get(id)?.busy === true;
    const looks = new BackendLooks({ records, sessions, drivers, clock, log, wake, isBusy });
    this.#looks = looks;
    const knowledge = new LocalKnowledge({
      owner,
      drivers,
      policy,
      isolationBackend,
      looks,
      sessions,
      clock,
    });
    this.#knowledge = knowledge;
    this.#workers = new Workers({
      ...{ owner, drivers, budgets, policy, clock, log, newId },
      ...{ activations, refusals, reasons, looks, knowledge },
      records: this.#background,
      urgent: records,
      leaseMs: options.leaseMs ?? LEASE_MS,
      gatewayUrl: options.gatewayUrl,
    });
    this.#supervisors = new SupervisorDesk({ records, activations, sessions, refusals, clock });
    this.#users = new UserDesk({
      ...{ records, activations, looks, knowledge, drivers, budgets, clock, newId, isolationBackend },
      closing: this.#closing.signal,
    });
    this.#reconciling = new Reconciling({
      ...{ records, looks, sessions, policy, clock, log, isolationBackend, wake, observer },
      drivers: options.drivers,
      sweepEveryMs: options.sweepEveryMs ?? SWEEP_EVERY_MS,
      rollCall: { known: () => hub.known(), missed: (id) => this.#announceMissed(id) },
    });
    this.#readiness = new ReadinessCheck({
      clock,
      store,
      drivers: options.drivers.map(({ name }) => name),
      answered: (driver) => looks.answered(driver),
      isRecovered: () => this.#recovered,
      isClosing: () => this.#closed,
    });
    hub.subscribe(({ id, record }) => this.#heard(id, record));
  }

  /** What a request that names no driver gets: the first of them. */
  get defaultDriver(): string {
    return this.#options.drivers[0]?.name ?? "";
  }

  /** Reads what is there and takes it up again, once all of it was read. Serve requests only after this. */
  async start(): Promise<void> {
    const found = ({ record, version }: VersionedRecord): void => {
      this.hub.know(record.id, version);
      this.#options.observer?.heard(record.id, record);
      this.#knowledge.found(record);
      if (this.#knowledge.hasWork(record)) this.#workers.wake(record.id);
    };
    await recover(this.records, found, this.#options.log, this.#options.sessionStore === undefined);
    if (this.#closed) return;
    this.#recovered = true;
    this.#workers.begin();
    this.#sweeper.start();
    this.#reconciling.start();
  }

  /**
   * Stops working. Supervisors go on, and deadlines too, and the next start finds both; but where the gateway manages
   * the lifecycle it stops what runs, and leaves the records as they are. A start that failed has taken nothing up,
   * and what runs is for the next one.
   *
   * @param options - `sweep`: whether it stops what runs where it manages the lifecycle. Default true.
   */
  async close({ sweep = true }: { readonly sweep?: boolean } = {}): Promise<void> {
    this.#closed = true;
    this.#closing.abort(new Error("the gateway is shutting down"));
    await this.#sweeper.close();
    await this.#reconciling.close();
    await this.#workers.close();
    await this.#sessions.close();
    if (!this.#recovered || !sweep) return;
    const { records, clock } = this;
    const { log } = this.#options;
    await shutdownSweep({ records, drivers: this.#drivers, policy: this.#policy, clock, log });
  }

  /** The store says that a record was written, perhaps by another gateway: whoever works on it here looks again. */
  async noticeChange({ id, version, found }: NoticedChange): Promise<void> {
    // Most of what comes is this gateway's own doing.
    if (!this.hub.hasTold(id, version)) await this.#background.announce(id, found);
  }

  /** News of the store may have been lost: everybody who works here looks again, and followers begin anew. */
  noticeGap(): void {
    this.hub.lapse();
    this.#workers.recheck();
    this.#sweeper.expect(this.clock.now());
  }

  /** Another gateway may have written something, whatever it was: whoever waits for a record looks at it. */
  noticeWrites(): void {
    this.hub.doubt();
  }

  /** So often whoever waits for news of a record looks at it: news may be lost, or nobody tells of them at all. */
  get lookEveryMs(): number {
    return this.#options.tellsOfWrites === true ? LOOK_TOLD_MS : LOOK_UNTOLD_MS;
  }

  /** A supervisor whose question is held is still there, as long as nobody called for another instance. */
  stillHere({ id, instance }: SandboxRecord): void {
    if (instance !== null) this.#sessions.prolong(id, instance.id, this.clock.now());
  }

  /** Whether there is anything against sending requests here. */
  readiness(): Promise<Readiness> {
    return this.#readiness.look();
  }

  /** Sweeps over every backend now, without waiting for the next time. */
  reconcile(): Promise<void> {
    return this.#reconciling.sweep();
  }

  /** What may be done with a sandbox, and which rule says where it stands, by the latest look at its backend. */
  standing(record: SandboxRecord): Standing {
    return this.#knowledge.standing(record);
  }

  /** Creating what is there already, with the same content under the same name, is fulfilled and not a conflict. */
  create(request: CreateRequest): Promise<Changed<"created" | "exists" | "name-taken">> {
    return this.#users.create(request);
  }

  /** The backend is looked at first: what it shows counts, and not what it showed a while ago. */
  startSandbox(id: string): Promise<Changed<OperationResult>> {
    return this.#users.start(id);
  }

  stopSandbox(id: string): Promise<Changed<OperationResult>> {
    return this.#users.stop(id);
  }

  deleteSandbox(id: string): Promise<Changed<OperationResult>> {
    return this.#users.delete(id);
  }

  update(id: string, write: ConfigurationWrite): Promise<Changed<UpdateResult>> {
    return this.#users.update(id, write);
  }

  /** The record a supervisor may read, or why it may not. */
  authenticate(
    id: string,
    token: string,
    run: number,
  ): Promise<VersionedRecord | "unauthorized" | "stale-run"> {
    return this.#supervisors.authenticate(id, token, run);
  }

  report(id: string, token: string, run: number, report: SupervisorReport): Promise<ReportResult> {
    return this.#supervisors.report(id, token, run, report);
  }

  /** Attempts of a bootstrap failed, says a supervisor. It is counted, and decides nothing. */
  noteFailures(counts: FailureCounts): void {
    this.#options.observer?.bootstrapFailed(counts);
  }

  /** A record was written, by whichever gateway. `null`: it was removed. */
  #heard(id: string, record: SandboxRecord | null): void {
    this.#options.observer?.heard(id, record);
    if (record === null) {
      this.#sessions.forget(id);
      this.#looks.forget(id);
      this.refusals.forget(id);
      this.#knowledge.owed.delete(id);
      this.#workers.forget(id);
    }
    if (this.#closed) return;
    if (record !== null) this.#sweeper.expect(dueAt(record));
    else this.#forgetActivations(id);
    const busy = this.#workers.get(id);
    if (busy !== undefined) busy.notice(record);
    else if (record !== null && this.#knowledge.hasWork(record)) this.#workers.wake(id);
  }

  #forgetActivations(id: string): void {
    this.activations.forget(id).catch((error: unknown) => {
      this.#options.log("ledger-not-cleared", { sandbox: id, error: messageOf(error) });
    });
  }

  /** A sweep found a record that the news of other gateways' writes left out. */
  #announceMissed(id: string): void {
    this.#background.announce(id).catch((error: unknown) => {
      this.#options.log("change-lost", { sandbox: id, error: messageOf(error) });
    });
  }
}
