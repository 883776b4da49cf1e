import { systemClock } from "../clock/index.js";
import { CommittedRunner } from "./committed-runner.js";
import { StartRefusedError } from "./deadline-errors.js";
import { DeadlineRunner } from "./deadline-runner.js";
import type { ChangeEvent, CleanupDoneEvent, DeadlineEvent, ProgressEvent, RejectEvent } from "./event.js";
import type { DeadlineEvents } from "./live-events.js";
import type {
  Commit,
  PhasedDeadlineOptions,
  PhasedDeadlineRestoreOptions,
  PhasedDeadlineStartOptions,
} from "./live-options.js";
import type { Listener } from "./notifier.js";
import type { DeadlineOutcome } from "./outcome.js";
import type { DeadlinePlan, PlanDefinition } from "./plan.js";
import { startAttempt } from "./start.js";
import type { DeadlineState } from "./state.js";

type Persisted = PhasedDeadline<Promise<DeadlineOutcome>>;

/**
 * A deadline that watches the clock: a {@link DeadlineState} with one alarm and events.
 *
 * Every rule is that of {@link applyDeadlineEvent}. The methods fill in this attempt's own token and answer with the
 * outcome, as a promise where `commit` makes it wait for the store. Expiry needs no timer to be true: whoever looks
 * at the deadline first finds it, and the alarm makes sure that somebody looks.
 *
 * @example
 * ```ts
 * import { definePlan, PhasedDeadline } from "slipway";
 *
 * const plan = definePlan({
 *   phases: [
 *     { name: "preparation", budgetMs: 30 * 60_000, stallMs: 120_000, timeoutReason: "ImagePreparationTimedOut" },
 *     { name: "admission", budgetMs: 5 * 60_000, renewOn: "change" },
 *   ],
 * });
 * using deadline = PhasedDeadline.start(plan, { attempt: crypto.randomUUID() });
 * deadline.on("expired", (expiry) => console.error(expiry.reason, expiry.message));
 * deadline.progress({ step: "download", position: 104_857_600 });
 * deadline.enter("admission");
 * deadline.remainingMs(); // the full five minutes, however long the download took
 * ```
 *
 * @public
 */
export class PhasedDeadline<Answer = DeadlineOutcome> implements Disposable {
  /** This attempt's fencing token. */
  readonly attempt: string;
  readonly #runner: DeadlineRunner;

  private constructor(state: DeadlineState, options: PhasedDeadlineOptions) {
    this.attempt = state.attempt;
    this.#runner =
      options.commit === undefined
        ? new DeadlineRunner(state, options)
        : new CommittedRunner(state, options, options.commit);
    this.#runner.watch();
  }

  /**
   * Starts an attempt. Its first state is `deadline.state`, for the caller to store along with the record.
   *
   * @throws {@link StartRefusedError} when the rules forbid it, and {@link SlipwayError} for a mistake.
   */
  static start(
    plan: DeadlinePlan | PlanDefinition,
    options: PhasedDeadlineStartOptions & { readonly commit: Commit },
  ): Persisted;
  static start(plan: DeadlinePlan | PlanDefinition, options: PhasedDeadlineStartOptions): PhasedDeadline;
  static start(
    plan: DeadlinePlan | PlanDefinition,
    options: PhasedDeadlineStartOptions,
  ): PhasedDeadline | Persisted {
    const { attempt, configuration, parent, minStartMs, phase, previous } = options;
    const now = (options.clock ?? systemClock).now();
    const start = startAttempt(plan, { attempt, now, configuration, parent, minStartMs, phase, previous });
    if (start.state === undefined) throw new StartRefusedError(start.refused, start.remainingMs);
    return new PhasedDeadline<DeadlineOutcome>(start.state, options);
  }

  /**
   * Takes a stored state up again, in this process or another. The deadline stays where it was. An attempt that had
   * expired before aborts `signal` at once and announces nothing a second time.
   */
  static restore(
    state: DeadlineState,
    options: PhasedDeadlineRestoreOptions & { readonly commit: Commit },
  ): Persisted;
  static restore(state: DeadlineState, options?: PhasedDeadlineRestoreOptions): PhasedDeadline;
  static restore(
    state: DeadlineState,
    options: PhasedDeadlineRestoreOptions = {},
  ): PhasedDeadline | Persisted {
    const deadline = new PhasedDeadline<DeadlineOutcome>(state, options);
    if (options.rebase !== false) deadline.#runner.rebase();
    return deadline;
  }

  /** The state as JSON, expired from the deadline on. With `commit`, what is stored plus progress yet to be. */
  get state(): DeadlineState {
    return this.#runner.look();
  }

  /** Time left in milliseconds: `Infinity` when unlimited, 0 when settled. */
  remainingMs(): number {
    return this.#runner.remainingMs();
  }

  /**
   * Aborts when the attempt expires (with a {@link DeadlineExpiredError}) or is cancelled (with the reason given), and
   * when another attempt took its place in the store. Not when it completes.
   */
  get signal(): AbortSignal {
    this.#runner.look();
    return this.#runner.signal;
  }

  /** See {@link ProgressEvent}. The phase is the current one unless it is named. */
  progress(event: Omit<ProgressEvent, "type" | "attempt" | "phase"> & { readonly phase?: string }): Answer {
    const { phase = this.#runner.state.phase, step, part, position, run } = event;
    return this.apply({ type: "progress", attempt: this.attempt, phase, step, part, position, run });
  }

  /** See {@link EnterEvent}. */
  enter(phase: string): Answer {
    return this.apply({ type: "enter", attempt: this.attempt, phase });
  }

  /** See {@link ChangeEvent}. */
  change(event: Omit<ChangeEvent, "type" | "attempt">): Answer {
    return this.apply({ ...event, type: "change", attempt: this.attempt });
  }

  /** See {@link RejectEvent}. */
  reject(event: Omit<RejectEvent, "type" | "attempt">): Answer {
    return this.apply({ ...event, type: "reject", attempt: this.attempt });
  }

  /** See {@link PauseEvent}. `seq` defaults to one above the last. */
  pause(seq: number = this.#nextSeq()): Answer {
    return this.apply({ type: "pause", attempt: this.attempt, seq });
  }

  /** See {@link ResumeEvent}. `seq` defaults to one above the last. */
  resume(seq: number = this.#nextSeq()): Answer {
    return this.apply({ type: "resume", attempt: this.attempt, seq });
  }

  /** See {@link CompleteEvent}. */
  complete(): Answer {
    return this.apply({ type: "complete", attempt: this.attempt });
  }

  /** See {@link CancelEvent}. `signal` aborts with the reason as it is stored. */
  cancel(reason: string): Answer {
    return this.apply({ type: "cancel", attempt: this.attempt, reason });
  }

  /** See {@link TickEvent}. */
  tick(): Answer {
    return this.apply({ type: "tick" });
  }

  /** See {@link ClaimCleanupEvent}. */
  claimCleanup(owner: string): Answer {
    return this.apply({ type: "claim-cleanup", attempt: this.attempt, owner });
  }

  /** See {@link CleanupDoneEvent}. */
  cleanupDone(event: Omit<CleanupDoneEvent, "type" | "attempt">): Answer {
    return this.apply({ ...event, type: "cleanup-done", attempt: this.attempt });
  }

  /** See {@link WaiveCleanupEvent}. */
  waiveCleanup(by: string, reason: string): Answer {
    return this.apply({ type: "waive-cleanup", attempt: this.attempt, by, reason });
  }

  /**
   * Applies an event that came from elsewhere, with its own token.
   *
   * With `commit`, the answer is a promise: events are decided one after another, each on the state that is stored;
   * when another writer was faster its state is adopted and the event is decided again on that.
   *
   * @throws {@link SlipwayError} `INVALID_EVENT` for a mistake, `COMMIT_FAILED` when the store refused over and over;
   * whatever `commit` throws. With `commit` the promise rejects instead.
   */
  apply(event: DeadlineEvent): Answer {
    return this.#runner.answer(event) as Answer;
  }

  on<K extends keyof DeadlineEvents>(event: K, listener: Listener<DeadlineEvents[K]>): this {
    this.#runner.notifier.on(event, listener);
    return this;
  }

  once<K extends keyof DeadlineEvents>(event: K, listener: Listener<DeadlineEvents[K]>): this {
    this.#runner.notifier.once(event, listener);
    return this;
  }

  off<K extends keyof DeadlineEvents>(event: K, listener: Listener<DeadlineEvents[K]>): this {
    this.#runner.notifier.off(event, listener);
    return this;
  }

  /** Stops watching: progress held back is announced or stored, the alarm is gone, nothing is announced any more. */
  [Symbol.dispose](): void {
    this.#runner.dispose();
  }

  #nextSeq(): number {
    return (this.#runner.state.pauseSeq ?? 0) + 1;
  }
}
