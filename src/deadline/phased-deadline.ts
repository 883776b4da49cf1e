import { systemClock } from "../clock/index.js";
import { hasMethod, invalid, kindOf, show } from "../errors.js";
import { CommittedRunner } from "./committed-runner.js";
import { StartRefusedError } from "./deadline-errors.js";
import { DeadlineRunner } from "./deadline-runner.js";
import type { ChangeEvent, CleanupDoneEvent, DeadlineEvent, ProgressEvent, RejectEvent } from "./event.js";
import type { EventMaker } from "./event-maker.js";
import type { DeadlineEvents } from "./live-events.js";
import type {
  Commit,
  PhasedDeadlineOptions,
  PhasedDeadlineRestoreOptions,
  PhasedDeadlineStartOptions,
} from "./live-options.js";
import type { Listener } from "../events/index.js";
import type { DeadlineOutcome } from "./outcome.js";
import { definePlan, type DeadlinePlan, type PlanDefinition } from "./plan.js";
import { checkReport } from "./progress-report.js";
import { rebaseClock } from "./rebase.js";
import { startAttemptAt } from "./start.js";
import type { DeadlineState } from "./state.js";
import { checkWhole } from "./whole-state.js";

/**
 * A live deadline whose changes wait for a store: every method answers with a promise.
 *
 * @public
 */
export type CommittedDeadline = PhasedDeadline<Promise<DeadlineOutcome>>;

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

  private constructor(state: DeadlineState, options: PhasedDeadlineOptions, storedVersion: number) {
    this.attempt = state.attempt;
    this.#runner =
      options.commit === undefined
        ? new DeadlineRunner(state, options, storedVersion)
        : new CommittedRunner(state, options, storedVersion, options.commit);
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
  ): CommittedDeadline;
  static start(plan: DeadlinePlan | PlanDefinition, options: PhasedDeadlineStartOptions): PhasedDeadline;
  static start(
    plan: DeadlinePlan | PlanDefinition,
    options: PhasedDeadlineStartOptions,
  ): PhasedDeadline | CommittedDeadline {
    checkOptions(options);
    const now = (options.clock ?? systemClock).now();
    const start = startAttemptAt(definePlan(plan), options, now);
    if (start.state === undefined) throw new StartRefusedError(start.refused, start.remainingMs);
    return new PhasedDeadline<DeadlineOutcome>(start.state, options, start.state.version);
  }

  /**
   * Takes a stored state up again after a restart. The deadline stays where it was, and under a clock that was set
   * back meanwhile what was left stays what is left. An attempt that had expired before aborts `signal` at once and
   * announces nothing a second time. For an ordinary load within a process say `rebase: false`.
   *
   * @throws {@link SlipwayError} `INVALID_STATE` for what is no decoded state, `INVALID_OPTION` for a mistake.
   */
  static restore(
    state: DeadlineState,
    options: PhasedDeadlineRestoreOptions & { readonly commit: Commit },
  ): CommittedDeadline;
  static restore(state: DeadlineState, options?: PhasedDeadlineRestoreOptions): PhasedDeadline;
  static restore(
    state: DeadlineState,
    options: PhasedDeadlineRestoreOptions = {},
  ): PhasedDeadline | CommittedDeadline {
    checkOptions(options);
    checkWhole(state);
    const { rebase = true } = options;
    const onThisClock = rebase ? rebaseClock(state, (options.clock ?? systemClock).now()) : state;
    return new PhasedDeadline<DeadlineOutcome>(onThisClock, options, state.version);
  }

  /**
   * The state as JSON, expired from the deadline on. With `commit`, what is stored plus progress yet to be; the last
   * of its own when another attempt took its place.
   */
  get state(): DeadlineState {
    return this.#runner.refresh();
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
    this.#runner.refresh();
    return this.#runner.signal;
  }

  /** See {@link ProgressEvent}. The phase is the current one unless it is named. */
  progress(
    event: Omit<ProgressEvent, "type" | "attempt" | "phase"> & { readonly phase?: string | undefined },
  ): Answer {
    checkReport(event);
    return this.#runner.progress(event) as Answer;
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

  /** See {@link PauseEvent}. `seq` defaults to one above the last that the deadline knows of. */
  pause(seq?: number): Answer {
    const { attempt } = this;
    return this.#apply((state) => ({ type: "pause", attempt, seq: seq ?? (state.pauseSeq ?? 0) + 1 }));
  }

  /** See {@link ResumeEvent}. `seq` defaults to one above the last that the deadline knows of. */
  resume(seq?: number): Answer {
    const { attempt } = this;
    return this.#apply((state) => ({ type: "resume", attempt, seq: seq ?? (state.pauseSeq ?? 0) + 1 }));
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
   * With `commit`, the answer is a promise: events are decided one after another, as of the instant at which they
   * came, each on the state that is stored; when another writer was faster its state is adopted and the event is
   * decided again on that.
   *
   * @throws {@link SlipwayError} `INVALID_EVENT` for a mistake, `COMMIT_FAILED` when the store refused over and over;
   * whatever `commit` throws. With `commit` the promise rejects instead.
   */
  apply(event: DeadlineEvent): Answer {
    return this.#apply(() => event);
  }

  #apply(make: EventMaker): Answer {
    return this.#runner.answer(make) as Answer;
  }

  /** Listens to an event. What a listener throws goes to `onError` and disturbs nothing else. */
  on<K extends keyof DeadlineEvents>(event: K, listener: Listener<DeadlineEvents[K]>): this {
    this.#runner.notifier.on(event, listener);
    return this;
  }

  /** Listens to the next event of this name only. */
  once<K extends keyof DeadlineEvents>(event: K, listener: Listener<DeadlineEvents[K]>): this {
    this.#runner.notifier.once(event, listener);
    return this;
  }

  /** Stops listening: takes back {@link PhasedDeadline.on} and {@link PhasedDeadline.once} of the same listener. */
  off<K extends keyof DeadlineEvents>(event: K, listener: Listener<DeadlineEvents[K]>): this {
    this.#runner.notifier.off(event, listener);
    return this;
  }

  /**
   * Stops watching: progress held back is announced or stored, the alarm is gone, and nothing is announced any more.
   * Events may still be applied, by a caller who persists the state without being told.
   */
  [Symbol.dispose](): void {
    this.#runner.dispose();
  }
}

function checkOptions(options: PhasedDeadlineOptions): void {
  if (typeof options !== "object" || (options as unknown) === null)
    throw invalid("INVALID_OPTION", "deadline options", "", "an object", options, kindOf(options));
  const { progressEveryMs, commit } = options;
  // `null` is an absent port or hook here, as serialisers and other languages have it.
  const clock = options.clock ?? undefined;
  const timers = options.timers ?? undefined;
  const onError = options.onError ?? undefined;
  if (progressEveryMs !== undefined && !(Number.isSafeInteger(progressEveryMs) && progressEveryMs >= 0)) {
    throw wrongOption("progressEveryMs", "a safe integer, 0 or more", progressEveryMs, show(progressEveryMs));
  }
  // Who brings a queue waits in that, and needs of a clock only the time.
  if (
    clock !== undefined &&
    !(hasMethod(clock, "now") && (timers !== undefined || hasMethod(clock, "schedule")))
  )
    throw wrongOption("clock", "a Clock with now() and schedule()", clock);
  if (timers !== undefined && !hasMethod(timers, "scheduleFor"))
    throw wrongOption("timers", "a TimerQueue", timers);
  checkHook("commit", commit);
  checkHook("onError", onError);
}

function checkHook(field: string, hook: unknown): void {
  if (hook !== undefined && typeof hook !== "function") throw wrongOption(field, "a function", hook);
}

function wrongOption(field: string, expected: string, value: unknown, shown = kindOf(value)): Error {
  return invalid("INVALID_OPTION", "deadline option", field, expected, value, shown);
}
