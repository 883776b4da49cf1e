import { TimerQueue, type Alarm, type Clock } from "slipway";
import { observeTime } from "../decide/decision.js";
import { eachOf } from "./each-of.js";
import { messageOf, type Log } from "./log.js";
import { NoSuchSandboxError, type DueRecord, type SandboxRecords } from "./sandbox-records.js";

/** Longest time without a look: another gateway may have written a deadline that this one never heard of. */
const LOOK_EVERY_MS = 2000;
/** Shortest time between two looks, should something stay due. */
const REST_MS = 200;
const BATCH = 200;
/** Expiries that are written at the same time: a store over the network answers many sooner than one after another. */
const AT_ONCE = 8;

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
    const { records, owner, onLook } = this.#options;
    const handled = new Set<string>();
    // Page by page, so that what stays due for long, as a stop that takes its time, hides nothing that comes after it.
    for (let last: DueRecord | null = null; ; ) {
      const due = await records.claimDue(owner, BATCH, last);
      const news = due.filter(({ id }) => !handled.has(id));
      for (const { id } of news) handled.add(id);
      await eachOf(news, AT_ONCE, (one) => this.#handle(one));
      last = due.at(-1) ?? null;
      if (due.length < BATCH || news.length === 0 || this.#closed) break;
    }
    const due = [...handled].join();
    this.#restMs = due !== "" && due === this.#stillDue ? Math.min(this.#restMs * 2, LOOK_EVERY_MS) : REST_MS;
    this.#stillDue = due;
    onLook();
    return records.earliestDue();
  }

  async #handle({ id, found }: DueRecord): Promise<void> {
    const { records, wake, log } = this.#options;
    try {
      if ("error" in found) throw found.error;
      // The expiry is written here, before anybody cleans anything up.
      const { record } = await records.change(
        id,
        (found, now) => ({ record: observeTime(found, now), result: null }),
        found,
      );
      if (record.deadline?.status === "expired") {
        log("due", { sandbox: id, phase: record.phase, reason: record.reason });
      }
      // Whoever ends begins nothing any more, also of what it had asked for before.
      if (!this.#closed) wake(id);
    } catch (error) {
      if (!(error instanceof NoSuchSandboxError))
        log("sweep-skipped", { sandbox: id, error: messageOf(error) });
    }
  }
}
