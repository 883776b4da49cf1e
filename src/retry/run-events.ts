import { Notifier, type Listener } from "../events/index.js";
import type { AttemptFailure } from "./attempt-failure.js";
import type { RunListener, RunRecord } from "./run-record.js";
import { statusOf, type RetryStatus } from "./status.js";

/**
 * What a {@link BootstrapRetrier} tells, and with what.
 *
 * @public
 */
export interface RetrierEvents {
  /** An attempt begins. */
  readonly attempt: {
    /** 1 for the first attempt of the run. */
    readonly attempt: number;
    /** Epoch milliseconds. */
    readonly at: number;
  };
  /** An attempt failed. */
  readonly failure: AttemptFailure;
  /** A wait begins. */
  readonly waiting: {
    /** The attempt that failed. */
    readonly attempt: number;
    /** When the next one is due, epoch milliseconds. */
    readonly nextAttemptAt: number;
  };
  /** The run is over, one way or another. */
  readonly settled: RetryStatus;
  /** Any of these: the moment to persist {@link BootstrapRetrier.snapshot}. */
  readonly change: RetryStatus;
}

/** What happens in a run, as events. A function listens to an event once, however often it is added. */
export class RunEvents extends Notifier<RetrierEvents> implements RunListener {
  override on<Name extends keyof RetrierEvents>(name: Name, listener: Listener<RetrierEvents[Name]>): void {
    this.off(name, listener);
    super.on(name, listener);
  }

  override once<Name extends keyof RetrierEvents>(name: Name, listener: Listener<RetrierEvents[Name]>): void {
    this.off(name, listener);
    super.once(name, listener);
  }

  attemptStarted(record: RunRecord): void {
    const { attempts, attemptStartedAt } = record;
    this.#emit("attempt", () => ({ attempt: attempts, at: attemptStartedAt ?? 0 }));
    this.#changed(record);
  }

  attemptFailed({ last }: RunRecord): void {
    if (last !== undefined) this.#emit("failure", () => last);
  }

  waiting(record: RunRecord): void {
    const { attempts, nextAttemptAt } = record;
    this.#emit("waiting", () => ({ attempt: attempts + 1, nextAttemptAt: nextAttemptAt ?? 0 }));
    this.#changed(record);
  }

  settled(record: RunRecord): void {
    this.#emit("settled", () => statusOf(record));
    this.#changed(record);
  }

  /** The value is made only when somebody listens. */
  #emit<Name extends keyof RetrierEvents>(name: Name, value: () => RetrierEvents[Name]): void {
    if (this.hears(name)) this.notify(name, value());
  }

  #changed(record: RunRecord): void {
    this.#emit("change", () => statusOf(record));
  }
}
