import type { Clock } from "slipway";
import { newRecord } from "../decide/attempt.js";
import type { Surroundings } from "../decide/gates.js";
import { backendMatches, explainExpiry } from "../decide/isolation.js";
import { nextWork } from "../decide/next-work.js";
import {
  requestDelete,
  requestStart,
  requestStop,
  updateConfiguration,
  type ConfigurationWrite,
  type OperationResult,
  type UpdateResult,
} from "../decide/operations.js";
import { isOwed } from "../decide/recovery-plan.js";
import { standingOf, type Standing } from "../decide/standing.js";
import type { ReportResult, SupervisorReport } from "../decide/supervisor-report.js";
import type { Driver } from "../driver/driver.js";
import { InvalidInputError } from "../input-error.js";
import { dueAt } from "../record/due.js";
import { digestOf } from "../record/digest.js";
import { canonicalJson, type JsonObject } from "../record/json.js";
import type { SandboxRecord, SandboxSpec } from "../record/record.js";
import type { NoticedChange } from "../store/change-listener.js";
import { queuedStore } from "../store/queued-store.js";
import type { RecordStore } from "../store/record-store.js";
import { checkOverrides, planFor } from "./budgets.js";
import { EventHub } from "./event-hub.js";
import { Activations } from "./activations.js";
import { messageOf } from "./log.js";
import type { GatewayOptions } from "./gateway-options.js";
import { BackendLooks } from "./backend-looks.js";
import type { FailureCounts } from "./observer.js";
import { managesLifecycle, policyOf, type PolicyOptions } from "./policy.js";
import { ReadinessCheck, type Readiness } from "./readiness.js";
import { Reconciling } from "./reconciling.js";
import { recover } from "./recovery.js";
import { ReasonBook } from "./reason-book.js";
import { Refusals } from "./refusals.js";
import { SandboxRecords, type VersionedRecord } from "./sandbox-records.js";
import { SandboxWorker } from "./sandbox-worker.js";
import { Sessions } from "./sessions.js";
import { shutdownSweep } from "./shutdown.js";
import { attemptToken } from "./secrets.js";
import { SupervisorDesk } from "./supervisor-desk.js";
import { Sweeper } from "./sweeper.js";
import { Workers } from "./workers.js";

const SWEEP_EVERY_MS = 10_000;
/** So often whoever waits for a record looks at it where nobody tells of other gateways' writes, and where the store does. */
const LOOK_UNTOLD_MS = 1000;
const LOOK_TOLD_MS = 30_000;
/** What workers and news of other gateways' writes may ask of the store at once; requests, expiries and launches do not queue. */
const BACKGROUND_AT_ONCE = 6;

export interface CreateRequest {
  readonly name: string;
  readonly spec: SandboxSpec;
  readonly policy: JsonObject;
}

type Changed<Result> = VersionedRecord & { readonly result: Result };

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
  readonly #workers = new Workers((id, onIdle) => this.#worker(id, onIdle));
  readonly #sweeper: Sweeper;
  readonly #looks: BackendLooks;
  readonly #sessions: Sessions;
  readonly #desk: SupervisorDesk;
  readonly #reconciling: Reconciling;
  readonly #reasons: ReasonBook;
  readonly #policy: PolicyOptions;
  readonly #isolationBackend: string | null;
  readonly #readiness: ReadinessCheck;
  readonly #owed = new Set<string>();
  readonly #closing = new AbortController();
  #recovered = false;
  #closed = false;

  constructor(options: GatewayOptions) {
    const { store, clock, log, newId } = options;
    this.#options = options;
    this.clock = clock;
    this.hub = new EventHub(newId().slice(0, 8));
    this.activations = new Activations(options.ledger, clock, {
      isThere: async (id) => (await store.get(id)) !== null,
      onUnsure: (id, error) => log("ledger-not-cleared", { sandbox: id, error: messageOf(error) }),
    });
    this.#isolationBackend = options.isolationBackend ?? null;
    this.#policy = { restartOn: [], ...options.policy };
    this.#reasons = new ReasonBook(options.drivers, log);
    this.#reasons.configured(this.#policy.restartOn);
    const { observer } = options;
    const recordsOf = (of: RecordStore): SandboxRecords =>
      new SandboxRecords(
        of,
        clock,
        this.hub,
        (before, after, now) => explainExpiry(before, after, this.#isolationBackend, now),
        (before, after) => observer?.written(before, after),
      );
    this.records = recordsOf(store);
    this.#background = recordsOf(queuedStore(store, BACKGROUND_AT_ONCE));
    this.#drivers = new Map(options.drivers.map((driver) => [driver.name, driver]));
    const wake = (id: string): void => this.#workers.wake(id);
    const onLook = (): void => this.#workers.recheck();
    this.#sweeper = new Sweeper({ records: this.records, owner: options.owner, clock, log, wake, onLook });
    const { records, hub } = this;
    const isBusy = (id: string): boolean => this.#owed.has(id) || this.#workers.get(id)?.busy === true;
    this.#sessions = new Sessions({ clock, log, owner: options.owner, store: options.sessionStore });
    const sessions = this.#sessions;
    const { activations, refusals } = this;
    this.#desk = new SupervisorDesk({ records, activations, sessions, refusals, clock });
    this.#looks = new BackendLooks({ records, sessions, drivers: this.#drivers, clock, log, wake, isBusy });
    this.#reconciling = new Reconciling({
      records,
      looks: this.#looks,
      sessions,
      drivers: options.drivers,
      policy: this.#policy,
      clock,
      log,
      isolationBackend: this.#isolationBackend,
      sweepEveryMs: options.sweepEveryMs ?? SWEEP_EVERY_MS,
      wake,
      observer,
      rollCall: {
        known: () => hub.known(),
        missed: (id) => {
          this.#background.announce(id).catch((error: unknown) => {
            log("change-lost", { sandbox: id, error: messageOf(error) });
          });
        },
      },
    });
    this.#readiness = new ReadinessCheck({
      clock,
      store,
      drivers: options.drivers.map(({ name }) => name),
      answered: (driver) => this.#looks.answered(driver),
      isRecovered: () => this.#recovered,
      isClosing: () => this.#closed,
    });
    hub.subscribe(({ id, record }) => {
      observer?.heard(id, record);
      if (record === null) {
        this.#sessions.forget(id);
        this.#looks.forget(id);
        this.refusals.forget(id);
        this.#owed.delete(id);
        this.#workers.forget(id);
      }
      if (this.#closed) return;
      if (record !== null) this.#sweeper.expect(dueAt(record));
      else this.#forget(id);
      const busy = this.#workers.get(id);
      if (busy !== undefined) busy.notice(record);
      else if (record !== null && this.#hasWork(record)) this.#workers.wake(id);
    });
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
      if (this.#isOwed(record)) this.#owed.add(record.id);
      if (this.#hasWork(record)) this.#workers.wake(record.id);
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
    const around = this.#around(record);
    return standingOf(record, around, this.#sessions.of(record.id, this.clock.now()), this.clock.now());
  }

  /** Creating what is there already, with the same content under the same name, is fulfilled and not a conflict. */
  async create(request: CreateRequest): Promise<Changed<"created" | "exists" | "name-taken">> {
    const { name, spec, policy } = request;
    const driver = this.#drivers.get(spec.driver);
    if (driver === undefined) {
      throw new InvalidInputError("driver", `one of ${[...this.#drivers.keys()].join(", ")}`, spec.driver);
    }
    checkOverrides(this.#options.budgets, spec.budgets);
    await driver.check(spec.image, spec.driverOptions);
    const now = this.clock.now();
    const isolationBackend = this.#isolationBackend;
    const id = `sb-${now.toString(36)}-${this.#options.newId().slice(0, 8)}`;
    const record = newRecord({ id, name, spec, policy, isolationBackend }, this.#attempt(spec), now);
    if ((await this.records.insert(record)) === "inserted") return { record, version: 1, result: "created" };
    const found = await this.records.findByName(name);
    // Whoever had the name was deleted in between: the name is free, and the next request gets it.
    if (found === null) return { record, version: 0, result: "name-taken" };
    const same =
      contentOf(found.record.spec) === contentOf(spec) &&
      found.record.configuration.digest === digestOf(policy);
    return { ...found, result: same && found.record.phase !== "Deleting" ? "exists" : "name-taken" };
  }

  /** The backend is looked at first: what it shows counts, and not what it showed a while ago. */
  async startSandbox(id: string): Promise<Changed<OperationResult>> {
    const token = attemptToken(this.#options.newId);
    const found = await this.records.read(id);
    if (found !== null) await this.#looks.look(found.record, this.#closing.signal);
    return this.records.change(id, (record, now) => {
      const plan = planFor(this.#options.budgets, record.spec.budgets);
      return requestStart(record, { plan, token }, this.#around(record), now);
    });
  }

  async stopSandbox(id: string): Promise<Changed<OperationResult>> {
    return this.#ended(
      await this.records.change(id, (record, now) => requestStop(record, this.#around(record), now)),
    );
  }

  async deleteSandbox(id: string): Promise<Changed<OperationResult>> {
    return this.#ended(
      await this.records.change(id, (record, now) => requestDelete(record, this.#around(record), now)),
    );
  }

  /** The record refuses a start from here on; the ledger tells one that is under way. */
  async #ended(changed: Changed<OperationResult>): Promise<Changed<OperationResult>> {
    if (changed.result.ok && changed.result.changed) await this.activations.stop(changed.record);
    return changed;
  }

  #forget(id: string): void {
    this.activations.forget(id).catch((error: unknown) => {
      this.#options.log("ledger-not-cleared", { sandbox: id, error: messageOf(error) });
    });
  }

  async update(id: string, write: ConfigurationWrite): Promise<Changed<UpdateResult>> {
    return this.records.change(id, (record, now) => updateConfiguration(record, write, now));
  }

  /** The record a supervisor may read, or why it may not. */
  authenticate(
    id: string,
    token: string,
    run: number,
  ): Promise<VersionedRecord | "unauthorized" | "stale-run"> {
    return this.#desk.authenticate(id, token, run);
  }

  report(id: string, token: string, run: number, report: SupervisorReport): Promise<ReportResult> {
    return this.#desk.report(id, token, run, report);
  }

  /** Attempts of a bootstrap failed, says a supervisor. It is counted, and decides nothing. */
  noteFailures(counts: FailureCounts): void {
    this.#options.observer?.bootstrapFailed(counts);
  }

  #attempt(spec: SandboxSpec): { plan: ReturnType<typeof planFor>; token: string } {
    return { plan: planFor(this.#options.budgets, spec.budgets), token: attemptToken(this.#options.newId) };
  }

  /** Whether it has to be found out what became of a sandbox while no gateway was here. */
  #isOwed(record: SandboxRecord): boolean {
    const driver = this.#drivers.get(record.spec.driver);
    if (driver === undefined) return false;
    const context = {
      managesLifecycle: managesLifecycle(driver, this.#policy),
      observation: null,
      policy: policyOf(driver, this.#policy),
    };
    return isOwed(record, context, this.clock.now());
  }

  /** Whether a worker would find something to do: most writes leave nothing, and cost nobody a look at the store. */
  #hasWork(record: SandboxRecord): boolean {
    if (this.#owed.has(record.id)) return true;
    const { owner } = this.#options;
    const local = { owner, seen: this.#looks.seen(record), around: this.#around(record) };
    return nextWork(record, local, this.clock.now()).do !== "nothing";
  }

  #around(record: SandboxRecord): Surroundings {
    const driver = this.#drivers.get(record.spec.driver);
    return {
      observation: this.#looks.seen(record)?.observation ?? null,
      backendMatches: backendMatches(record, this.#isolationBackend),
      policy: driver === undefined ? {} : policyOf(driver, this.#policy),
    };
  }

  #worker(id: string, onIdle: () => void): SandboxWorker {
    return new SandboxWorker({
      id,
      records: this.#background,
      urgent: this.records,
      activations: this.activations,
      clock: this.clock,
      log: this.#options.log,
      refusals: this.refusals,
      reasons: this.#reasons,
      drivers: this.#drivers,
      budgets: this.#options.budgets,
      policy: this.#policy,
      looks: this.#looks,
      around: (record) => this.#around(record),
      owed: this.#owed,
      owner: this.#options.owner,
      leaseMs: this.#options.leaseMs ?? 15_000,
      gatewayUrl: this.#options.gatewayUrl,
      newId: this.#options.newId,
      onIdle,
    });
  }
}

/** Fields that are absent and fields that are undefined are the same content; so is any order of them. */
function contentOf(spec: SandboxSpec): string {
  return canonicalJson(JSON.parse(JSON.stringify(spec)) as JsonObject);
}
