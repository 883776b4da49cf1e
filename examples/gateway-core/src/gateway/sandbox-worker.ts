import type { Clock } from "slipway";
import { claimCleanup, finishCleanup } from "../decide/cleanup.js";
import { recordLaunched } from "../decide/driver-report.js";
import { settleLostRun, settleStop } from "../decide/ended.js";
import { nextWork, type NextWork } from "../decide/next-work.js";
import { beginPending } from "../decide/operations.js";
import { recoverAtStartUp } from "../decide/recovery-plan.js";
import { beginRestart, scheduleRestart } from "../decide/restart.js";
import { isLostRun, type Seen } from "../decide/seen.js";
import type { Driver } from "../driver/driver.js";
import type { Instance, SandboxRecord } from "../record/record.js";
import type { Activations } from "./activations.js";
import { planFor, type Budgets } from "./budgets.js";
import { CurrentLaunch } from "./current-launch.js";
import { EndingCalls } from "./ending-calls.js";
import type { LaunchDeps } from "./launch.js";
import type { LocalKnowledge } from "./local-knowledge.js";
import { messageOf } from "./log.js";
import { Paced } from "./paced.js";
import { managesLifecycle, policyOf, type PolicyOptions } from "./policy.js";
import type { SandboxRecords } from "./sandbox-records.js";
import { attemptToken, secretsOf, withoutSecrets } from "./secrets.js";

export interface SandboxWorkerOptions extends LaunchDeps {
  readonly id: string;
  /** The records for what cannot wait its turn behind a crowd: the lease, progress and end of a launch. */
  readonly urgent: SandboxRecords;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly budgets: Budgets;
  readonly activations: Activations;
  readonly policy: PolicyOptions;
  readonly knowledge: LocalKnowledge;
  /** Called when there is nothing to do, so that the worker can be let go. */
  readonly onIdle: () => void;
}

/**
 * Does the driver's work for one sandbox, one thing at a time: reads the record, decides what is next, does it, and
 * looks again, until nothing is left. Whatever wakes it, the record says what to do. Nobody else asks a driver to
 * change anything.
 */
export class SandboxWorker {
  readonly #options: SandboxWorkerOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #steps: Paced;
  readonly #launch: CurrentLaunch;
  readonly #calls: EndingCalls;
  #busy = false;

  constructor(options: SandboxWorkerOptions) {
    this.#options = options;
    this.#clock = options.clock;
    const { signal } = this.#closing;
    this.#launch = new CurrentLaunch(options.id, { ...options, records: options.urgent }, signal);
    this.#calls = new EndingCalls(options.clock, signal);
    this.#steps = new Paced({
      clock: options.clock,
      signal,
      step: () => this.#step(),
      onError: (error) => options.log("work-failed", { sandbox: options.id, error: messageOf(error) }),
      onIdle: options.onIdle,
    });
  }

  /** Whether a driver is at work for this sandbox. */
  get busy(): boolean {
    return this.#busy;
  }

  /** Somebody wrote the record: work that it no longer asks for is stopped at once. */
  notice(record: SandboxRecord | null): void {
    this.#launch.notice(record);
    this.#steps.work();
  }

  /** Looks whether there is something to do, unless what failed is waited for. */
  wake(): void {
    this.#steps.wake();
  }

  /** Reads the record anew while a driver works: another gateway may have written it. */
  async recheck(): Promise<void> {
    if (!this.#launch.isUnderWay) {
      this.wake();
      return;
    }
    const found = await this.#options.records.read(this.#options.id);
    this.notice(found?.record ?? null);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the gateway is shutting down"));
    await this.#steps.ended();
  }

  /** Does the next thing; false when there was none, or it turned out not to be ours: then a write or the sweep wakes. */
  async #step(): Promise<boolean> {
    const { id, records, drivers, knowledge } = this.#options;
    const found = await records.read(id);
    if (found === null) return false;
    const { record } = found;
    const driver = drivers.get(record.spec.driver);
    if (knowledge.owed.has(id) && driver !== undefined) return this.#recover(record, driver);
    const work = nextWork(record, knowledge.ofWork(record), this.#clock.now());
    if (work.do === "nothing") return false;
    if (driver === undefined)
      throw new Error(`this gateway has no driver ${JSON.stringify(record.spec.driver)}`);
    this.#busy = true;
    try {
      return await this.#perform(work, record, driver);
    } finally {
      this.#busy = false;
    }
  }

  async #perform(work: NextWork, record: SandboxRecord, driver: Driver): Promise<boolean> {
    switch (work.do) {
      case "nothing":
        return false;
      case "clean-up":
        return this.#cleanUp(driver);
      case "remove":
        return this.#remove(record, driver);
      case "stop":
        return this.#stop(record, driver);
      case "begin":
        return this.#begin();
      case "schedule-restart":
        return this.#scheduleRestart();
      case "restart":
        return this.#restart();
      case "look":
        return this.#look(record, work.instance, driver);
      case "launch":
        return this.#launch.run(driver);
      case "end-lost-run":
        return this.#endLostRun(record, work.instance, work.seen, driver);
      case "end-stray":
        return this.#endStray(record, driver);
    }
  }

  /** Finds out what became of a start that an earlier process had begun. */
  async #look(record: SandboxRecord, instance: Instance, driver: Driver): Promise<boolean> {
    const { id, records, looks, log } = this.#options;
    const { run } = instance;
    const seen = await looks.look(record, this.#closing.signal);
    if (seen === null || (seen.running === null && !seen.stale)) {
      this.#steps.later();
      return false;
    }
    const runs = seen.running === true && !seen.stale;
    // Interrupted before it was started, which is nobody's failure: the work begins again.
    if (!runs && record.activatedRun === null) return this.#launch.run(driver);
    const { result, record: adopted } = await records.change(id, (found, now) =>
      recordLaunched(found, { run, handle: null }, now),
    );
    log("adopted", { sandbox: id, run, running: runs });
    // What was seen before it counted as started is no word of its end.
    if (result && !runs) await looks.look(adopted, this.#closing.signal);
    return result;
  }

  /** What the gateway owes a sandbox from before its own start. */
  async #recover(record: SandboxRecord, driver: Driver): Promise<boolean> {
    const { id, records, looks, knowledge, policy, log } = this.#options;
    const observation = await looks.look(record, this.#closing.signal);
    const context = {
      managesLifecycle: managesLifecycle(driver, policy),
      run: record.run,
      looked: record,
      observation,
      policy: policyOf(driver, policy),
    };
    const { result, record: after } = await records.change(id, (found, now) =>
      recoverAtStartUp(found, context, now),
    );
    if (result === "wait") {
      this.#steps.later();
      return false;
    }
    knowledge.owed.delete(id);
    if (after.phase !== record.phase) log("recovered-sandbox", { sandbox: id, phase: after.phase });
    return true;
  }

  /** What it may have left running is ended before anybody is told that it is gone. */
  async #endLostRun(record: SandboxRecord, { run }: Instance, seen: Seen, driver: Driver): Promise<boolean> {
    const { id, records } = this.#options;
    const failure = await this.#calls.stop(driver, record);
    if (failure !== null) throw failure;
    const { policy } = this.#options.knowledge.around(record);
    const lost = { seen, policy, uncertain: await this.#options.activations.isUncertain(record) };
    const { record: after } = await records.change(id, (found, now) => settleLostRun(found, run, lost, now));
    this.#options.looks.forget(id);
    return !isLostRun(after, seen);
  }

  async #endStray(record: SandboxRecord, driver: Driver): Promise<boolean> {
    const failure = await this.#calls.stop(driver, record);
    if (failure !== null) throw failure;
    this.#options.looks.forget(record.id);
    return true;
  }

  async #begin(): Promise<boolean> {
    const { id, records, knowledge } = this.#options;
    const token = attemptToken(this.#options.newId);
    const { result } = await records.change(id, (found, now) =>
      beginPending(found, this.#attempt(found, token), knowledge.around(found), now),
    );
    return result;
  }

  async #scheduleRestart(): Promise<boolean> {
    const { id, records, knowledge, log } = this.#options;
    const { record, result } = await records.change(id, (found, now) =>
      scheduleRestart(found, knowledge.around(found), now),
    );
    if (result) log("restart-scheduled", { sandbox: id, restarts: record.restarts, at: record.restartAt });
    return result;
  }

  async #restart(): Promise<boolean> {
    const { id, records, knowledge, log } = this.#options;
    const token = attemptToken(this.#options.newId);
    const { result } = await records.change(id, (found, now) =>
      beginRestart(found, this.#attempt(found, token), knowledge.around(found), now),
    );
    if (result === "mismatch") log("isolation-backend-mismatch", { sandbox: id });
    return result !== "not-due";
  }

  #attempt(record: SandboxRecord, token: string): { plan: ReturnType<typeof planFor>; token: string } {
    return { plan: planFor(this.#options.budgets, record.spec.budgets), token };
  }

  /** Of the attempt that the claim was written for: it may be a later one than what was read before. */
  async #cleanUp(driver: Driver): Promise<boolean> {
    const { id, records, owner, log } = this.#options;
    const claimed = await records.change(id, (found, now) => claimCleanup(found, owner, now));
    const { result: claim, record } = claimed;
    if (claim === null) return false;
    const failure = await this.#calls.cleanUp(driver, record, claim.until);
    if (this.#closing.signal.aborted) return false;
    const error = failure === null ? undefined : withoutSecrets(messageOf(failure), secretsOf(record));
    log("cleanup", { sandbox: id, claim: claim.claim, ok: failure === null, error: error ?? null });
    const end = { ...claim, ok: failure === null, error };
    const { result } = await records.change(id, (found, now) => finishCleanup(found, end, now));
    return result;
  }

  /** A stop is done when the backend shows it, also one whose call failed though it took effect. */
  async #stop(record: SandboxRecord, driver: Driver): Promise<boolean> {
    const { id, records, looks, knowledge } = this.#options;
    const failure = await this.#calls.stop(driver, record);
    if (this.#closing.signal.aborted) return false;
    const observation = await looks.look(record, this.#closing.signal);
    const { run } = record;
    const ended = { run, failed: failure !== null, observation, policy: knowledge.around(record).policy };
    const { record: after } = await records.change(id, (found, now) => settleStop(found, ended, now));
    if (after.phase !== "Stopping") return true;
    if (failure !== null) throw failure;
    this.#steps.later();
    return false;
  }

  async #remove(record: SandboxRecord, driver: Driver): Promise<boolean> {
    const { id, records, refusals, looks } = this.#options;
    const failure = await this.#calls.remove(driver, record);
    if (failure !== null) throw failure;
    const found = await records.read(id);
    if (found?.record.desired === "deleted") await records.remove(id, found.version);
    refusals.forget(id);
    looks.forget(id);
    return true;
  }
}
