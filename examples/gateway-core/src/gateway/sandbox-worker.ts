import type { Clock } from "slipway";
import { claimCleanup, finishCleanup } from "../decide/cleanup.js";
import { recordLaunched, recordSupervisorGone } from "../decide/driver-report.js";
import { nextWork, type NextWork } from "../decide/next-work.js";
import { beginPending, markStopped } from "../decide/operations.js";
import type { Driver } from "../driver/driver.js";
import type { Instance, SandboxRecord } from "../record/record.js";
import { sleep } from "../sleep.js";
import { planFor, type Budgets } from "./budgets.js";
import { launch, stillWanted, type LaunchDeps, type RunningLaunch } from "./launch.js";
import { limitedCall } from "./limited-call.js";
import { messageOf } from "./log.js";
import { NoSuchSandboxError } from "./sandbox-records.js";
import { SupervisorWatch } from "./supervisor-watch.js";

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
const STOP_LIMIT_MS = 30_000;

export interface SandboxWorkerOptions extends LaunchDeps {
  readonly id: string;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly budgets: Budgets;
  /** Called when there is nothing to do and nothing is watched, so that the worker can be let go. */
  readonly onIdle: () => void;
}

/**
 * Does the driver's work for one sandbox, one thing at a time: reads the record, decides what is next, does it, and
 * looks again, until nothing is left. Whatever wakes it, the record says what to do.
 */
export class SandboxWorker {
  readonly #options: SandboxWorkerOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  #again = false;
  /** A retry is waited for. What wakes the worker meanwhile changes nothing about what failed. */
  #retrying = false;
  #failures = 0;
  #launch: { readonly running: RunningLaunch; readonly controller: AbortController } | null = null;
  readonly #watch: SupervisorWatch;

  constructor(options: SandboxWorkerOptions) {
    this.#options = options;
    this.#clock = options.clock;
    // What became of it is found out by the next step, which looks, finds nobody, and ends what is left.
    this.#watch = new SupervisorWatch(options.clock, (error) =>
      error === null ? this.wake() : this.#retryLater(error),
    );
  }

  /** Somebody wrote the record: work that it no longer asks for is stopped at once. */
  notice(record: SandboxRecord | null): void {
    const launch = this.#launch;
    if (launch !== null && !stillWanted(record, launch.running)) {
      launch.controller.abort(new Error("the record no longer asks for this work"));
    }
    this.#work();
  }

  /** Looks whether there is something to do, unless what failed is waited for. */
  wake(): void {
    if (!this.#retrying) this.#work();
  }

  #work(): void {
    if (this.#closing.signal.aborted) return;
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** Reads the record anew while a driver works: another gateway may have written it. */
  async recheck(): Promise<void> {
    if (this.#launch === null) {
      this.wake();
      return;
    }
    const found = await this.#options.records.read(this.#options.id);
    this.notice(found?.record ?? null);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the gateway is shutting down"));
    this.#launch?.controller.abort(this.#closing.signal.reason);
    this.#watch.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#closing.signal.aborted) {
        this.#again = false;
        if (await this.#step()) this.#again = true;
        this.#failures = 0;
      }
    } catch (error) {
      if (!(error instanceof NoSuchSandboxError)) this.#retryLater(error);
    }
    this.#running = null;
    if (this.#again) this.wake();
    else if (this.#watch.run === null && !this.#retrying) this.#options.onIdle();
  }

  #retryLater(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#options.log("work-failed", { sandbox: this.#options.id, error: messageOf(error) });
    this.#wakeLater();
  }

  #wakeLater(): void {
    if (this.#retrying) return;
    this.#retrying = true;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
    this.#failures = Math.min(this.#failures + 1, 10);
    sleep(this.#clock, wait, this.#closing.signal).then(
      () => {
        this.#retrying = false;
        this.wake();
      },
      () => undefined,
    );
  }

  /** Does the next thing; false when there was none, or it turned out not to be ours: then a write or the sweep wakes. */
  async #step(): Promise<boolean> {
    const { id, records, owner, drivers } = this.#options;
    const found = await records.read(id);
    if (found === null) {
      this.#watch.end();
      return false;
    }
    const { record } = found;
    const local = { watching: this.#watch.run };
    const work = nextWork(record, local, owner, this.#clock.now());
    if (work.do === "nothing") return false;
    const driver = drivers.get(record.spec.driver);
    if (driver === undefined)
      throw new Error(`this gateway has no driver ${JSON.stringify(record.spec.driver)}`);
    return this.#perform(work, record, driver);
  }

  async #perform(work: NextWork, record: SandboxRecord, driver: Driver): Promise<boolean> {
    switch (work.do) {
      case "nothing":
        return false;
      case "clean-up":
        return this.#cleanUp(record, driver);
      case "remove":
        return this.#remove(record, driver);
      case "stop":
        return this.#stop(record, driver);
      case "begin":
        return this.#begin();
      case "look":
        return this.#look(record, work.instance, driver);
      case "launch":
        return this.#start(record, driver);
    }
  }

  async #start(record: SandboxRecord, driver: Driver): Promise<boolean> {
    const { id } = this.#options;
    const controller = new AbortController();
    let taken = false;
    const onStarted = (running: RunningLaunch): void => {
      taken = true;
      this.#launch = { running, controller };
    };
    try {
      const started = await launch(id, driver, controller, onStarted, this.#options);
      if (started !== null) this.#watch.begin(driver, { sandbox: { id, name: record.name }, ...started });
    } finally {
      this.#launch = null;
    }
    return taken;
  }

  /** Finds out what became of an instance that an earlier process started, or was about to. */
  async #look(record: SandboxRecord, instance: Instance, driver: Driver): Promise<boolean> {
    const { id, records, log } = this.#options;
    const { run } = instance;
    const { signal } = this.#closing;
    const sandbox = { id, name: record.name };
    const expected = { instanceId: instance.id, desired: "running" } as const;
    const seen = await driver.observe(sandbox, expected, instance.handle, { signal });
    if (seen === null || (seen.running === null && !seen.stale)) {
      this.#wakeLater();
      return false;
    }
    if (seen.running === true && !seen.stale) {
      const launched = { run, handle: instance.handle ?? { instance: instance.id } };
      const { result } = await records.change(id, (found, now) => recordLaunched(found, launched, now));
      if (result) this.#watch.begin(driver, { sandbox, instanceId: instance.id, ...launched });
      log("adopted", { sandbox: id, run });
      return result;
    }
    // Never written down as started: the work was interrupted, which is nobody's failure, and begins again.
    if (instance.handle === null && record.activatedRun === null) return this.#start(record, driver);
    return this.#supervisorGone(driver, record.name, run);
  }

  /** What it may have left running is ended before anybody is told that it is gone. */
  async #supervisorGone(driver: Driver, name: string, run: number): Promise<boolean> {
    const { id, records } = this.#options;
    const limit = this.#clock.now() + STOP_LIMIT_MS;
    const failure = await this.#limited(limit, (signal) => driver.stop({ id, name }, { signal }));
    if (failure !== null) throw failure;
    return (await records.change(id, (found, now) => recordSupervisorGone(found, run, now))).result;
  }

  async #begin(): Promise<boolean> {
    const { id, records, budgets, newId } = this.#options;
    const token = newId();
    const { result } = await records.change(id, (found, now) =>
      beginPending(found, { plan: planFor(budgets, found.spec.budgets), token }, now),
    );
    return result;
  }

  async #cleanUp(record: SandboxRecord, driver: Driver): Promise<boolean> {
    const { id, records, owner, log } = this.#options;
    this.#watch.end();
    const { result: claim } = await records.change(id, (found, now) => claimCleanup(found, owner, now));
    if (claim === null) return false;
    const failure = await this.#limited(claim.until, (signal) =>
      driver.cleanUp({ id, name: record.name }, { signal }),
    );
    if (this.#closing.signal.aborted) return false;
    const error = failure === null ? undefined : messageOf(failure);
    log("cleanup", { sandbox: id, claim: claim.claim, ok: failure === null, error: error ?? null });
    const end = { ...claim, ok: failure === null, error };
    const { result } = await records.change(id, (found, now) => finishCleanup(found, end, now));
    return result;
  }

  async #stop(record: SandboxRecord, driver: Driver): Promise<boolean> {
    const { id, records } = this.#options;
    this.#watch.end();
    const limit = this.#clock.now() + STOP_LIMIT_MS;
    const failure = await this.#limited(limit, (signal) =>
      driver.stop({ id, name: record.name }, { signal }),
    );
    if (failure !== null) throw failure;
    await records.change(id, markStopped);
    return true;
  }

  async #remove(record: SandboxRecord, driver: Driver): Promise<boolean> {
    const { id, records, refusals } = this.#options;
    this.#watch.end();
    const limit = this.#clock.now() + STOP_LIMIT_MS;
    const failure = await this.#limited(limit, (signal) =>
      driver.remove({ id, name: record.name }, { signal }),
    );
    if (failure !== null) throw failure;
    const found = await records.read(id);
    if (found !== null && found.record.phase === "Deleting") await records.remove(id, found.version);
    refusals.forget(id);
    return true;
  }

  #limited(until: number, call: (signal: AbortSignal) => Promise<void>): Promise<Error | null> {
    return limitedCall({ clock: this.#clock, until, signal: this.#closing.signal }, call);
  }
}
