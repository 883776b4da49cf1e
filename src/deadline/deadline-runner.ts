import { sharedQueue, systemClock, type Clock } from "../clock/index.js";
import type { SlipwayError } from "../errors.js";
import { Notifier, reportTo } from "../events/index.js";
import { announce } from "./announce.js";
import { applyDeadlineEvent } from "./apply.js";
import { stopReason } from "./deadline-errors.js";
import type { DeadlineEvent } from "./event.js";
import { tick, type EventMaker } from "./event-maker.js";
import { checkInstant } from "./instant.js";
import { LatestProgress } from "./latest-progress.js";
import { LAST_INSTANT } from "./limits.js";
import type { DeadlineEvents } from "./live-events.js";
import type { PhasedDeadlineOptions } from "./live-options.js";
import { liveSettings, type LiveSettings } from "./live-settings.js";
import type { Maybe } from "./maybe.js";
import { nextInstant } from "./next-instant.js";
import { OneAlarm } from "./one-alarm.js";
import type { DeadlineOutcome } from "./outcome.js";
import { progressOf, type ProgressReport } from "./progress-report.js";
import { readDeadline } from "./read.js";
import type { DeadlineState } from "./state.js";
import { CHANGED, DUPLICATE } from "./step.js";
import type { Succession } from "./succession.js";

/**
 * Runs one attempt in this process: decides on the state it holds, keeps one alarm set to the next instant at which
 * something is due, and tells listeners what became different.
 *
 * @internal
 */
export class DeadlineRunner extends OneAlarm {
  readonly clock: Clock;
  readonly #settings: LiveSettings;
  #state: DeadlineState;
  #latest: LatestProgress | undefined;
  /** The attempt is active and nothing is due before this instant, which progress may move on but not back. */
  #idleUntil = Number.NEGATIVE_INFINITY;
  #notifier: Notifier<DeadlineEvents> | undefined;
  #controller: AbortController | undefined;
  #announcedVersion: number;
  // Absent, and no infinite number: to the host each number of that kind is an object, for every deadline that waits.
  /** Until when progress alone is not announced. */
  #quietUntil: number | undefined;
  /** When the news held back is due. */
  #flushAt: number | undefined;
  #telling = false;
  #untold: Succession[] | undefined;

  /** @param storedVersion - The version that is known elsewhere: what is newer in `state` is news. */
  constructor(state: DeadlineState, options: PhasedDeadlineOptions, storedVersion: number) {
    const clock = options.clock ?? systemClock;
    super(options.timers ?? sharedQueue(clock, options.unref === true));
    this.clock = clock;
    this.#state = state;
    this.#settings = liveSettings(options);
    this.#announcedVersion = storedVersion;
  }

  /** As of the latest decision; {@link DeadlineRunner.refresh} brings it up to the present. */
  get state(): DeadlineState {
    if (this.#latest !== undefined) this.#state = this.#latest.fold(this.#state);
    return this.#state;
  }

  /** Begins to watch the clock. What is news already is told as soon as the caller had a chance to listen. */
  watch(): void {
    if (this.state.version > this.#announcedVersion) this.#flushAt = this.clock.now();
    this.arm();
  }

  /** Decides an event and answers as the caller of a live deadline expects it. */
  answer(make: EventMaker): unknown {
    return this.submit(make);
  }

  /** As {@link DeadlineRunner.answer}, for the event that comes by the thousand: without a closure for each. */
  progress(report: ProgressReport): unknown {
    const now = this.clock.now();
    return this.#takeUntold(report, now) ?? this.#decide(progressOf(this.state, report), now);
  }

  /**
   * Progress that changes nothing, or nothing that anybody is to be told of now, is decided without a new state (see
   * {@link LatestProgress}). `undefined` where it takes more, first of all when anything is due.
   */
  #takeUntold(report: ProgressReport, now: number): DeadlineOutcome | undefined {
    if (!(now < this.#idleUntil)) return undefined;
    checkInstant("now", now);
    const latest = (this.#latest ??= new LatestProgress());
    const verdict = latest.judge(this.#state, report);
    if (verdict === "duplicate") return DUPLICATE;
    if (verdict === undefined || this.#notifier?.hears("progress") === true) return undefined;
    const quietUntil = this.#quietUntil;
    const held = quietUntil !== undefined && now < quietUntil;
    if (!held && this.#notifier?.hears("change") === true) return undefined;
    latest.raise(this.#state, report, now);
    if (held) this.#holdBack(quietUntil);
    else this.#countAnnounced(this.#version, now);
    return CHANGED;
  }

  /** Decides an event on the latest state. */
  submit(make: EventMaker): Maybe<DeadlineOutcome> {
    return this.#decide(make(this.state), this.clock.now());
  }

  #decide(event: DeadlineEvent, now: number): DeadlineOutcome {
    const { state, outcome } = applyDeadlineEvent(this.state, event, now);
    if (outcome.changed) this.become(state, now, event);
    return outcome;
  }

  /** Expiry is true from its instant on: whoever looks first finds it. */
  refresh(): DeadlineState {
    if (this.isDue(this.clock.now())) void this.submit(tick);
    return this.state;
  }

  /** Time left in milliseconds. */
  remainingMs(): number {
    const state = this.refresh();
    return this.stopped === undefined ? readDeadline(state, this.clock.now()).remainingMs : 0;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      this.abortWhenOver();
    }
    return this.#controller.signal;
  }

  get notifier(): Notifier<DeadlineEvents> {
    this.#notifier ??= new Notifier((error) => {
      this.report(error);
    });
    return this.#notifier;
  }

  override dispose(): void {
    super.dispose();
    this.#notifier?.close();
  }

  /** Why work must stop although the state does not say so, `undefined` when it need not. */
  protected get stopped(): SlipwayError | undefined {
    return undefined;
  }

  /** Until when progress alone is not to be let out. */
  protected get heldUntil(): number {
    return this.#quietUntil ?? Number.NEGATIVE_INFINITY;
  }

  protected get progressEveryMs(): number {
    return this.#settings.progressEveryMs;
  }

  protected report(error: unknown): void {
    reportTo(this.#settings.onError, error);
  }

  protected isDue(now: number): boolean {
    if (this.state.status !== "active" || this.stopped !== undefined) return false;
    return now >= nextInstant(this.state, this.#settings.observes);
  }

  /**
   * Takes over a new state of the attempt and tells everybody what it brought. Should a listener cause the next
   * state, that is told when this one has been.
   */
  protected become(next: DeadlineState, now: number, event?: DeadlineEvent): void {
    const before = this.state;
    this.#state = next;
    const held = event?.type === "progress" && next.status === "active" && now < this.heldUntil;
    if (held) this.#flushAt = this.heldUntil;
    this.arm();
    // Most progress is news to nobody: no record of it is made then.
    if (held && this.#notifier === undefined) return;
    const succession = { before, next, event, held, now };
    if (this.#telling) (this.#untold ??= []).push(succession);
    else this.#tellFirst(() => this.#tell(succession));
  }

  /** Tells something, and then what listeners caused meanwhile: that waits for its turn. */
  #tellFirst(tell: () => void): void {
    this.#telling = true;
    try {
      tell();
      for (let later = this.#untold?.shift(); later !== undefined; later = this.#untold?.shift())
        this.#tell(later);
    } finally {
      this.#telling = false;
    }
  }

  #tell({ before, next, event, held, now }: Succession): void {
    if (next.status !== before.status) this.abortWhenOver();
    if (this.#notifier !== undefined) announce(this.#notifier, before, next, event);
    if (!held) this.letOut(next, now, event);
  }

  /** Lets news out that is not held back. */
  protected letOut(
    ...[next, now]: [next: DeadlineState, now: number, event: DeadlineEvent | undefined]
  ): void {
    this.announceChange(next, now);
  }

  /** Announces a state as the one to persist, unless it or a later one was announced. */
  protected announceChange(next: DeadlineState, now: number): void {
    const notifier = this.#notifier;
    if (!this.#countAnnounced(next.version, now) || notifier === undefined) return;
    const notify = (): void => notifier.notify("change", next);
    // What was held back is told by itself.
    if (this.#telling) notify();
    else this.#tellFirst(notify);
  }

  /** Whether a version is news; it is not, from then on. */
  #countAnnounced(version: number, now: number): boolean {
    this.#flushAt = undefined;
    const isNews = this.#announcedVersion < version;
    if (isNews) {
      this.#announcedVersion = version;
      this.#quietUntil = now + this.progressEveryMs;
    }
    // What a listener reported meanwhile is news still.
    if (this.#version > this.#announcedVersion) this.#holdBack(Math.max(this.#quietUntil ?? now, now));
    return isNews;
  }

  /** Lets out what was held back. */
  protected override flush(): void {
    this.#flushAt = undefined;
    if (this.#announcedVersion < this.#version) this.announceChange(this.state, this.clock.now());
  }

  /** The version of the state, without making it. */
  get #version(): number {
    return this.#state.version + (this.#latest?.times ?? 0);
  }

  /** Holds the latest state back until an instant. */
  protected flushAt(at: number): void {
    this.#flushAt = at;
    this.arm();
  }

  /** Sets the alarm to the next instant at which something is due. */
  protected arm(notBefore = Number.NEGATIVE_INFINITY): void {
    const wake = this.#nextWake();
    const { status, observedAt } = this.state;
    this.#idleUntil =
      status === "active" && observedAt < wake ? Math.min(wake, LAST_INSTANT) : Number.NEGATIVE_INFINITY;
    this.setAlarm(Math.max(wake, notBefore));
  }

  /** Holds news back, without a look at anything else that may be due. */
  #holdBack(until: number): void {
    this.#flushAt = until;
    if (until >= this.#idleUntil) return;
    this.#idleUntil = until;
    this.setAlarm(until);
  }

  /** As the owner of the alarm. */
  alarmRang(): void {
    try {
      if (this.clock.now() >= this.#flushDue) this.flush();
      this.refresh();
    } finally {
      this.armAgain();
    }
  }

  /** Sets the alarm again after it rang. */
  protected armAgain(): void {
    this.arm();
  }

  #nextWake(): number {
    if (this.stopped !== undefined) return Number.POSITIVE_INFINITY;
    if (this.state.status !== "active") return this.#flushDue;
    return Math.min(nextInstant(this.state, this.#settings.observes), this.#flushDue);
  }

  get #flushDue(): number {
    return this.#flushAt ?? Number.POSITIVE_INFINITY;
  }

  protected abortWhenOver(): void {
    const controller = this.#controller;
    if (controller === undefined || controller.signal.aborted) return;
    const reason = this.stopped ?? stopReason(this.state);
    if (reason !== undefined) controller.abort(reason);
  }
}
