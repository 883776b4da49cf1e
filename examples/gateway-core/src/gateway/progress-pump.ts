import type { ProgressResult } from "../decide/progress-report.js";
import type { DriverProgress } from "../driver/driver.js";

/** Refusals after which a driver's work is of no use to anybody. */
const FATAL = new Set(["stale-attempt", "stale-run", "expired", "settled"]);

export interface ProgressPumpOptions {
  /** Commits one report. */
  readonly commit: (progress: DriverProgress) => Promise<ProgressResult>;
  readonly onRefused: (why: string) => void;
  /** The work no longer counts: somebody else does it, or its time is over. */
  readonly onOvertaken: (why: string) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Carries reports from a driver, which does not wait, to the store, one at a time and in order. While a write is
 * under way, reports of one step fold into the furthest: a slow store gets fewer reports, not a longer queue.
 */
export class ProgressPump {
  readonly #options: ProgressPumpOptions;
  #queue: DriverProgress[] = [];
  #running: Promise<void> | null = null;

  constructor(options: ProgressPumpOptions) {
    this.#options = options;
  }

  push(progress: DriverProgress): void {
    const last = this.#queue.at(-1);
    if (last !== undefined && saysLess(last, progress)) this.#queue[this.#queue.length - 1] = progress;
    else this.#queue.push(progress);
    this.#running ??= this.#run();
  }

  /** Resolves when everything that was pushed has been committed or refused. */
  async drained(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      try {
        const outcome = await this.#options.commit(next);
        if (outcome.applied) continue;
        this.#options.onRefused(outcome.why);
        if (FATAL.has(outcome.why)) this.#options.onOvertaken(outcome.why);
      } catch (error) {
        this.#options.onError(error);
      }
    }
    this.#running = null;
  }
}

/** Whether what comes next says all that a report says, and more. */
function saysLess(report: DriverProgress, next: DriverProgress): boolean {
  const { step, subject, part, position = -1, busySeconds = -1, done, waiting } = report;
  const same =
    step === next.step && subject === next.subject && part === next.part && waiting === next.waiting;
  const [bytes, seconds] = [next.position ?? -1, next.busySeconds ?? -1];
  const more = position <= bytes && busySeconds <= seconds && (position < bytes || busySeconds < seconds);
  return same && done !== true && more;
}
