import { TimerQueue, type Alarm, type Clock } from "slipway";
import { observeTime } from "../decide/decision.js";
import { messageOf, type Log } from "./log.js";
import { NoSuchSandboxError, type SandboxRecords } from "./sandbox-records.js";

/** Longest time without a look: another gateway may have written a deadline that this one never heard of. */
const LOOK_EVERY_MS = 2000;
/** Shortest time between two looks, should something stay due. */
const REST_MS = 200;
const BATCH = 200;

export interface SweeperOptions {
  readonly records: SandboxRecords;
  /** Names this gateway among those that share the store. */
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called for each sandbox that is due, after its expiry, if it had one, was written. */
  readonly wake: (id: string) => void;
  /** Called at each look, for what has no due instant. */
  readonly onLook: () => void;
}

/**
 * One alarm for every deadline, pending cleanup and forgotten piece of work of this gateway. The alarm only says when
 * to look: what is due is asked of the store, and each expiry is decided anew on the record as it then is.
 */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #queue: TimerQueue;
  #alarm: Alarm | null = null;
  #sweeping: Promise<void> | null = null;
  #closed = false;
  /** What was due at the last look, and how long to rest while it stays due: somebody else's work may take long. */
  #stillDue = "";
  #restMs = REST_MS;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#queue = new TimerQueue(options.clock);
  }

  start(): void {
    this.#alarm ??= this.#queue.schedule(this.#options.clock.now(), () => this.#ring());
  }

  /** A record was written that is due at this instant: ring by then. */
  expect(dueAt: number | null): void {
    const alarm = this.#alarm;
    if (dueAt === null || alarm === null || this.#closed || this.#sweeping !== null) return;
    if (!alarm.pending || dueAt < alarm.at) alarm.set(dueAt);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#alarm?.[Symbol.dispose]();
    await this.#sweeping;
  }

  #ring(): void {
    this.#sweeping = this.#sweep()
      .catch((error: unknown) => {
        this.#options.log("sweep-failed", { error: messageOf(error) });
        return null;
      })
      .then((next) => {
        this.#sweeping = null;
        const now = this.#options.clock.now();
        const latest = now + LOOK_EVERY_MS;
        if (!this.#closed) this.#alarm?.set(Math.max(now + this.#restMs, Math.min(next ?? latest, latest)));
      });
  }

  /** Handles what is due; the instant at which something is due next. */
  async #sweep(): Promise<number | null> {
    const { records, owner, wake, log, onLook } = this.#options;
    const due = await records.claimDue(owner, BATCH);
    const same = due.length > 0 && due.join() === this.#stillDue;
    this.#restMs = same ? Math.min(this.#restMs * 2, LOOK_EVERY_MS) : REST_MS;
    this.#stillDue = due.join();
    for (const id of due) {
      try {
        // The expiry is written here, before anybody cleans anything up.
        const { record } = await records.change(id, (found, now) => ({
          record: observeTime(found, now),
          result: null,
        }));
        if (record.deadline?.status === "expired") {
          log("due", { sandbox: id, phase: record.phase, reason: record.reason });
        }
        wake(id);
      } catch (error) {
        if (!(error instanceof NoSuchSandboxError))
          log("sweep-skipped", { sandbox: id, error: messageOf(error) });
      }
    }
    onLook();
    return records.earliestDue();
  }
}
