import { systemClock, type Clock } from "../clock/index.js";
import { invalid } from "../errors.js";
import { Notifier, type Listener } from "../events/index.js";
import { applyStepEvent } from "./apply.js";
import { DeadlineFeeds } from "./deadline-feeds.js";
import { rebaseTracker } from "./rebase.js";
import { ShownPercent } from "./shown-percent.js";
import { startTracking } from "./start-tracking.js";
import type { TrackedStep, TrackerState } from "./state.js";
import type { StepDefinition } from "./step-definition.js";
import type { ReportOptions, RunOptions, StepEvent } from "./step-event.js";
import type { StepApplied, StepOutcome } from "./step-outcome.js";
import { readStep, type StepReading } from "./step-reading.js";
import type {
  FeedOptions,
  ProgressSink,
  StepTrackerEvents,
  StepTrackerOptions,
  StepTrackerRestoreOptions,
} from "./tracker-options.js";

const DEFAULT_CHANGE_EVERY_MS = 200;

/** Something that became so, to be told. */
interface News {
  readonly state: TrackerState;
  readonly step: string;
  readonly outcome: StepApplied;
}

/**
 * Follows the steps of one piece of work: what each works on, how far it has come, and how long it has taken.
 *
 * Every rule is that of {@link applyStepEvent}. A report is bound to a step and to its subject: a bootstrap image's
 * bytes never complete the user's image. What cannot be taken is refused with a `why`, and nothing changes.
 *
 * Nothing but `change` is held back: there is at most one every `changeEveryMs`, and the last state is always told.
 *
 * @example
 * ```ts
 * import { StepTracker } from "slipway/progress";
 * import { VirtualClock } from "slipway/testing";
 *
 * const clock = new VirtualClock(); // leave it out to run on the system clock
 * const tracker = new StepTracker(
 *   [
 *     { step: "export", label: "Image exported from local Docker", subject: "local-big:1", total: 8_089_725_051 },
 *     { step: "disk", label: "Root disk prepared", subject: "local-big:1" },
 *   ],
 *   { clock },
 * );
 * tracker.report("export", "local-big:1", 4_044_862_526);
 * tracker.finish("export", "bootstrap:1"); // => { applied: false, changed: false, why: "other-subject" }
 * clock.advance(90_200);
 * tracker.read("export")?.percent; // => 50
 * tracker.start("disk", "local-big:1"); // implies that the export is done
 * tracker.read("export")?.elapsedMs; // => 90200
 * ```
 *
 * @public
 */
export class StepTracker implements Disposable {
  readonly #clock: Clock;
  readonly #unref: boolean;
  readonly #everyMs: number;
  readonly #notifier: Notifier<StepTrackerEvents>;
  readonly #feeds: DeadlineFeeds;
  readonly #shown = new ShownPercent();
  #state: TrackerState;
  /** Rings when the news held back may be told, `undefined` while none is. */
  #alarm: Disposable | undefined;
  #toldVersion: number;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #telling = false;
  readonly #untold: News[] = [];
  #disposed = false;

  /**
   * @throws {@link SlipwayError} `INVALID_PLAN` for malformed steps, `INVALID_OPTION` for a malformed option.
   */
  constructor(steps: readonly StepDefinition[], options?: StepTrackerOptions);
  /** @internal */
  constructor(steps: TrackerState, options: StepTrackerOptions, restored: true);
  constructor(
    steps: readonly StepDefinition[] | TrackerState,
    options: StepTrackerOptions = {},
    restored?: true,
  ) {
    const { clock = systemClock, unref = false, changeEveryMs = DEFAULT_CHANGE_EVERY_MS } = options;
    if (!Number.isSafeInteger(changeEveryMs) || changeEveryMs < 0) {
      throw invalid(
        "INVALID_OPTION",
        "tracker option",
        "changeEveryMs",
        "a safe integer, 0 or more",
        changeEveryMs,
      );
    }
    this.#clock = clock;
    this.#unref = unref;
    this.#everyMs = changeEveryMs;
    this.#notifier = new Notifier(options.onError);
    this.#feeds = new DeadlineFeeds(options.onError);
    this.#state =
      restored === true
        ? (steps as TrackerState)
        : startTracking(steps as readonly StepDefinition[], clock.now());
    this.#toldVersion = this.#state.version;
  }

  /**
   * Takes stored steps up again after a restart: neither bytes nor times start anew, and nothing is announced a
   * second time.
   */
  static restore(state: TrackerState, options: StepTrackerRestoreOptions = {}): StepTracker {
    const { rebase = true, clock = systemClock } = options;
    return new StepTracker(rebase ? rebaseTracker(state, clock.now()) : state, options, true);
  }

  /** The state as JSON. */
  get state(): TrackerState {
    return this.#state;
  }

  /**
   * How far a step, or a part of it, has come.
   *
   * @param position - In `unit`, or in the step's own unit; an absolute position, not an increase.
   * @param total - Of the part where one is named, else of the whole step. Absent: unknown, or as it was said before.
   *
   * @throws {@link SlipwayError} `INVALID_EVENT` for a mistake. A position that is no number is a refusal.
   */
  report(
    step: string,
    subject: string,
    position: number,
    total?: number,
    options?: ReportOptions,
  ): StepOutcome {
    return this.apply({
      type: "report",
      step,
      subject,
      position,
      total,
      part: options?.part,
      unit: options?.unit,
      run: options?.run,
    });
  }

  /** A step begins, or begins again, and there is nothing to count yet. */
  start(step: string, subject: string, options?: RunOptions): StepOutcome {
    return this.apply({ type: "start", step, subject, run: options?.run });
  }

  /** A step is finished. One that never began begins and finishes at once. */
  finish(step: string, subject: string, options?: RunOptions): StepOutcome {
    return this.apply({ type: "finish", step, subject, run: options?.run });
  }

  /**
   * Applies an event that came from elsewhere.
   *
   * @throws {@link SlipwayError} `INVALID_EVENT` for a mistake.
   */
  apply(event: StepEvent): StepOutcome {
    const { state, outcome } = applyStepEvent(this.#state, event, this.#clock.now());
    if (outcome.applied) {
      this.#state = state;
      if (outcome.sign !== null) this.#feeds.tell(outcome.sign);
      this.#tell({ state, step: event.step, outcome });
    }
    return outcome;
  }

  /** Where a step stands now, `undefined` when there is none of that name. */
  read(step: string): StepReading | undefined {
    const found = this.#state.steps.find((tracked) => tracked.step === step);
    return found && this.#read(found, this.#now());
  }

  /** Where every step stands now, in the order of the work. */
  readings(): readonly StepReading[] {
    const now = this.#now();
    return this.#state.steps.map((step) => this.#read(step, now));
  }

  /**
   * Tells a deadline of all progress from now on, see {@link deadlineProgress}. What the deadline refuses is its own
   * business: a tracker follows the work also when its time is over. Disposing ends it.
   *
   * @example
   * ```ts
   * import { PhasedDeadline } from "slipway/deadline";
   * import { StepTracker } from "slipway/progress";
   *
   * using deadline = PhasedDeadline.start({ phases: [{ name: "preparation", stallMs: 120_000 }] }, { attempt: "a1" });
   * using tracker = new StepTracker([{ step: "export", label: "Image exported", subject: "local-big:1" }]);
   * tracker.feed(deadline, { phase: "preparation" });
   * tracker.report("export", "local-big:1", 4096);
   * deadline.state.marks; // => [{ step: "export", part: null, position: 4096 }]
   * ```
   */
  feed(deadline: ProgressSink, options: FeedOptions): Disposable {
    return this.#feeds.add(deadline, options);
  }

  /** Listens to an event. What a listener throws goes to `onError` and disturbs nothing else. */
  on<K extends keyof StepTrackerEvents>(event: K, listener: Listener<StepTrackerEvents[K]>): this {
    this.#notifier.on(event, listener);
    return this;
  }

  /** Listens to the next event of this name only. */
  once<K extends keyof StepTrackerEvents>(event: K, listener: Listener<StepTrackerEvents[K]>): this {
    this.#notifier.once(event, listener);
    return this;
  }

  /** Stops listening: takes back {@link StepTracker.on} and {@link StepTracker.once} of the same listener. */
  off<K extends keyof StepTrackerEvents>(event: K, listener: Listener<StepTrackerEvents[K]>): this {
    this.#notifier.off(event, listener);
    return this;
  }

  /** Tells now what is held back. */
  flush(): void {
    this.#change(this.#clock.now());
  }

  /** Tells what is held back, and then nothing any more. Events may still be applied. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.flush();
    this.#disposed = true;
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = undefined;
    this.#feeds.clear();
    this.#notifier.close();
  }

  #now(): number {
    return Math.max(this.#clock.now(), this.#state.observedAt);
  }

  #read(step: TrackedStep, now: number): StepReading {
    return this.#shown.show(step, readStep(step, now));
  }

  /** Tells of one event after the other, also when a listener causes the next. */
  #tell(news: News): void {
    this.#untold.push(news);
    if (this.#telling) return;
    this.#telling = true;
    try {
      for (let next = this.#untold.shift(); next !== undefined; next = this.#untold.shift())
        this.#announce(next);
    } finally {
      this.#telling = false;
    }
  }

  #announce({ state, step, outcome }: News): void {
    if (outcome.started) this.#notify("started", state, step);
    for (const name of outcome.completed) this.#notify("finished", state, name);
    const now = this.#clock.now();
    if (now >= this.#quietUntil) this.#change(now);
    else this.#arm();
  }

  #notify(event: "started" | "finished", state: TrackerState, name: string): void {
    const step = this.#notifier.hears(event)
      ? state.steps.find((tracked) => tracked.step === name)
      : undefined;
    if (step !== undefined) this.#notifier.notify(event, readStep(step, state.observedAt));
  }

  #change(now: number): void {
    if (this.#state.version <= this.#toldVersion) return;
    this.#toldVersion = this.#state.version;
    this.#quietUntil = now + this.#everyMs;
    this.#notifier.notify("change", this.#state);
  }

  #arm(): void {
    if (this.#disposed || this.#alarm !== undefined) return;
    this.#alarm = this.#clock.schedule(this.#quietUntil, this.#ring, { unref: this.#unref });
  }

  /** A host timer may be early, and news may have been told meanwhile. */
  readonly #ring = (): void => {
    this.#alarm = undefined;
    const now = this.#clock.now();
    if (now >= this.#quietUntil) this.#change(now);
    else this.#arm();
  };
}
