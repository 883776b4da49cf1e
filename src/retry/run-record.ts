import { messageOf, type AttemptFailure } from "./attempt-failure.js";
import { cutOffFailure, failureOf, noteOf, type FailureNote } from "./failure-note.js";
import { failureOutcome } from "./errors.js";
import type { InterruptedBy } from "./interruption.js";
import { unmarked } from "./marks.js";
import type { ResolvedOptions } from "./options.js";
import { afterFailure, type RetryDecision, type RetryProgress } from "./progress.js";
import { restoredRun, type RunEnd } from "./restored-run.js";
import type { RetrySnapshot, RetryState } from "./snapshot.js";
import type { Classification } from "./verdict.js";

/** Told of everything that happens in a run, as it happens. */
export interface RunListener {
  attemptStarted(record: RunRecord): void;
  attemptFailed(record: RunRecord): void;
  waiting(record: RunRecord): void;
  settled(record: RunRecord): void;
}

/** A failure, and what follows it. */
export interface WeighedFailure {
  readonly classification: Classification;
  readonly now: number;
  readonly progress: RetryProgress;
  readonly decision: RetryDecision;
}

/** Everything that is known of one run: what `status()`, `snapshot()` and the run itself read. */
export class RunRecord implements RetryProgress {
  readonly options: ResolvedOptions;
  state: RetryState | "refreshing" = "idle";
  attempts = 0;
  failures = 0;
  previousMs: number | null = null;
  transientCount = 0;
  /** The first failure, and those after it as far as they are kept. */
  firstNote: FailureNote | undefined;
  startedAt: number | null = null;
  attemptStartedAt: number | null = null;
  nextAttemptAt: number | null = null;

  // Most of the many that wait at once never change these: they are the prototype's until then, see below.
  /** Absent until somebody listens. */
  declare events: RunListener | undefined;
  declare suspects: number;
  declare suspectSince: number | null;
  declare refreshed: boolean;
  declare permanentCount: number;
  declare suspectCount: number;
  declare cancelledCount: number;
  declare laterNotes: readonly FailureNote[];
  declare retryNowAt: number | null;
  /** Asked for during an attempt, for the wait that follows. */
  declare retryNowAsked: boolean;
  /** Work beside the run that is under way, or that failed: what `status` tells of meanwhile. */
  declare beside: RunRecord | undefined;
  /** One of several that make one bootstrap: when it succeeds, the bootstrap goes on. */
  declare isPart: boolean;
  /** When and how the run ended, and with what: nothing after success, or where another process saw the end. */
  declare end: RunEnd | undefined;

  constructor(options: ResolvedOptions, restore?: RetrySnapshot) {
    this.options = options;
    if (restore !== undefined) this.#restore(restore);
  }

  now(): number {
    return this.options.clock.now();
  }

  /** Time to the deadline. One that cannot say is over: a bootstrap must not outlive what bounds it. */
  remainingMs(): number {
    const { deadline } = this.options;
    if (deadline === undefined) return Number.POSITIVE_INFINITY;
    try {
      const remaining = deadline.remainingMs();
      return remaining > 0 ? remaining : 0;
    } catch {
      return 0;
    }
  }

  begin(): number {
    const now = this.now();
    this.startedAt ??= now;
    return now;
  }

  isExhausted(): boolean {
    return this.attempts >= this.options.maxAttempts;
  }

  startAttempt(now: number): void {
    this.state = "attempting";
    this.attempts += 1;
    this.attemptStartedAt = now;
    this.nextAttemptAt = null;
  }

  startRefresh(): void {
    this.state = "refreshing";
    this.attemptStartedAt = this.now();
    this.nextAttemptAt = this.attemptStartedAt;
  }

  /** From here on `nextAttemptAt` is waited for. */
  wait(): void {
    this.state = "waiting";
    this.nextAttemptAt ??= this.now();
  }

  /** When the attempt, or the refresh, that is under way has taken its time. */
  attemptEndsAt(): number {
    return (this.attemptStartedAt ?? this.now()) + this.options.attemptTimeoutMs;
  }

  /** Failures that the bounded history dropped. */
  get omitted(): number {
    const counted = this.transientCount + this.permanentCount + this.suspectCount + this.cancelledCount;
    return counted - this.#notes.length;
  }

  /** The first failure, and the latest. */
  get history(): readonly AttemptFailure[] {
    return this.#notes.map((note) => failureOf(note, this.startedAt ?? 0));
  }

  get first(): AttemptFailure | undefined {
    return this.firstNote && failureOf(this.firstNote, this.startedAt ?? 0);
  }

  get last(): AttemptFailure | undefined {
    const note = this.laterNotes.at(-1);
    return note === undefined ? this.first : failureOf(note, this.startedAt ?? 0);
  }

  get #notes(): readonly FailureNote[] {
    return this.firstNote === undefined ? NONE : [this.firstNote, ...this.laterNotes];
  }

  /** Whether nothing is left to wait for. */
  isDue(now: number): boolean {
    return this.nextAttemptAt === null || this.nextAttemptAt <= now;
  }

  waitLeftMs(): number {
    return Math.max((this.nextAttemptAt ?? 0) - this.now(), 0);
  }

  /** Moves the next attempt closer, at a distance from the last time; `false` when it is as close already. */
  retryNow(): boolean {
    if (this.state !== "waiting" || this.nextAttemptAt === null) return false;
    const now = this.now();
    const spaced = this.retryNowAt === null ? now : this.retryNowAt + this.options.retryNowSpacingMs;
    const at = Math.max(now, spaced);
    if (at >= this.nextAttemptAt) return false;
    this.retryNowAt = at;
    this.nextAttemptAt = at;
    return true;
  }

  /** What a failure makes of the run. Asks the backoff, which may be the embedder's own, and changes nothing. */
  weigh(classification: Classification, now: number): WeighedFailure {
    const canRefresh = this.options.refresh !== undefined;
    const previousHintMs = (this.laterNotes.at(-1) ?? this.firstNote)?.hint?.hintMs ?? null;
    const facts = { classification, now, remainingMs: this.remainingMs(), previousHintMs, canRefresh };
    return { classification, now, ...afterFailure(this, facts, this.options) };
  }

  fail(error: unknown, { classification, now, progress, decision }: WeighedFailure): void {
    this.#take(progress);
    // It counts as made once it is done: one that is cut off may be made again.
    if (decision.next === "refresh") this.refreshed = false;
    this.nextAttemptAt = decision.next === "wait" ? now + (decision.waitMs ?? 0) : null;
    this.#remember({
      attempt: this.attempts,
      startedAt: this.attemptStartedAt ?? now,
      endedAt: now,
      verdict: classification.verdict,
      code: classification.code,
      kind: classification.kind ?? "unknown",
      explanation: classification.explanation,
      message: messageOf(error),
      waitMs: decision.next === "wait" ? decision.waitMs : null,
      hintMs: classification.pushbackMs ?? classification.retryAfterMs ?? null,
      hintClamped: decision.hintClamped,
      error,
    });
  }

  /** The attempt that was under way when the run was ended from outside. */
  cutOff(by: InterruptedBy): void {
    this.cancelledCount += 1;
    const whose = by === "caller" ? "The caller gave up" : "The deadline passed";
    this.#note(
      "cancelled",
      by === "caller" ? "CANCELLED" : "DEADLINE",
      `${whose} during the attempt`,
      this.now(),
    );
  }

  settle(state: RetryState, reason: unknown): void {
    this.state = state;
    this.end = { at: this.now(), outcome: state === "failed" ? failureOutcome(reason) : undefined, reason };
    // A cancelled run keeps its next instant: another process may go on with it.
    if (state !== "cancelled") this.nextAttemptAt = null;
  }

  /** The last error that the operation threw. */
  cause(): unknown {
    return unmarked(this.#notes.findLast(({ error }) => error !== undefined)?.error);
  }

  #note(verdict: "cancelled" | "transient", code: string, explanation: string, endedAt: number): void {
    const startedAt = this.attemptStartedAt ?? endedAt;
    this.#remember(cutOffFailure({ attempt: this.attempts, startedAt, endedAt, verdict, code, explanation }));
  }

  #remember(failure: AttemptFailure): void {
    const note = noteOf(failure, this.startedAt ?? 0);
    if (this.firstNote === undefined) {
      this.firstNote = note;
      return;
    }
    const later = [...this.laterNotes, note];
    this.laterNotes = later.length < this.options.historyLimit ? later : later.slice(1);
  }

  #take(progress: RetryProgress): void {
    this.attempts = progress.attempts;
    this.failures = progress.failures;
    this.previousMs = progress.previousMs;
    this.transientCount = progress.transientCount;
    if (this.suspects !== progress.suspects) this.suspects = progress.suspects;
    if (this.suspectSince !== progress.suspectSince) this.suspectSince = progress.suspectSince;
    if (this.refreshed !== progress.refreshed) this.refreshed = progress.refreshed;
    if (this.permanentCount !== progress.permanentCount) this.permanentCount = progress.permanentCount;
    if (this.suspectCount !== progress.suspectCount) this.suspectCount = progress.suspectCount;
    if (this.cancelledCount !== progress.cancelledCount) this.cancelledCount = progress.cancelledCount;
  }

  #restore(stored: RetrySnapshot): void {
    const run = restoredRun(stored, this.options, this.now());
    this.state = stored.state;
    this.#take(run);
    const began = stored.startedAt ?? 0;
    const notes = stored.history.map((failure) => noteOf({ ...failure, error: undefined }, began));
    [this.firstNote, ...this.laterNotes] = notes;
    this.startedAt = run.startedAt;
    this.attemptStartedAt = run.attemptStartedAt;
    this.nextAttemptAt = run.nextAttemptAt;
    this.retryNowAt = run.retryNowAt;
    if (run.end !== undefined) this.end = run.end;
    if (!run.wasInterrupted) return;
    const at = run.attemptStartedAt ?? this.now();
    this.#note("transient", "INTERRUPTED", "The process ended during the attempt", at);
  }
}

const NONE: readonly FailureNote[] = Object.freeze([]);

const seldom: Pick<
  RunRecord,
  | "events"
  | "suspects"
  | "suspectSince"
  | "refreshed"
  | "permanentCount"
  | "suspectCount"
  | "cancelledCount"
  | "laterNotes"
  | "retryNowAt"
  | "retryNowAsked"
  | "beside"
  | "isPart"
  | "end"
> = {
  events: undefined,
  suspects: 0,
  suspectSince: null,
  refreshed: false,
  permanentCount: 0,
  suspectCount: 0,
  cancelledCount: 0,
  laterNotes: NONE,
  retryNowAt: null,
  retryNowAsked: false,
  beside: undefined,
  isPart: false,
  end: undefined,
};
Object.assign(RunRecord.prototype, seldom);
