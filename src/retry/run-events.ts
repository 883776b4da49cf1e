import type { AttemptFailure } from "./attempt-failure.js";
import { Notifier } from "./notifier.js";
import type { RunListener, RunRecord } from "./run-record.js";
import { statusOf, type RetryStatus } from "./status.js";

/**
 * What a {@link BootstrapRetrier} tells, and with what.
 *
 * @public
 */
export interface RetrierEvents {
  /** An attempt begins. */
  readonly attempt: { readonly attempt: number; readonly at: number };
  /** An attempt failed. */
  readonly failure: AttemptFailure;
  /** A wait begins. */
  readonly waiting: { readonly attempt: number; readonly nextAttemptAt: number };
  /** The run is over, one way or another. */
  readonly settled: RetryStatus;
  /** Any of these: the moment to persist {@link BootstrapRetrier.snapshot}. */
  readonly change: RetryStatus;
}

/** What happens in a run, as events. */
export class RunEvents extends Notifier<RetrierEvents> implements RunListener {
  attemptStarted(record: RunRecord): void {
    const { attempts, attemptStartedAt } = record;
    this.emit("attempt", () => ({ attempt: attempts, at: attemptStartedAt ?? 0 }));
    this.#changed(record);
  }

  attemptFailed({ last }: RunRecord): void {
    if (last !== undefined) this.emit("failure", () => last);
  }

  waiting(record: RunRecord): void {
    const { attempts, nextAttemptAt } = record;
    this.emit("waiting", () => ({ attempt: attempts + 1, nextAttemptAt: nextAttemptAt ?? 0 }));
    this.#changed(record);
  }

  settled(record: RunRecord): void {
    this.emit("settled", () => statusOf(record));
    this.#changed(record);
  }

  #changed(record: RunRecord): void {
    this.emit("change", () => statusOf(record));
  }
}
