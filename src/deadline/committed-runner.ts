import { invalid, kindOf, SlipwayError } from "../errors.js";
import { applyDeadlineEvent } from "./apply.js";
import { DeadlineRunner } from "./deadline-runner.js";
import type { DeadlineEvent, ProgressEvent } from "./event.js";
import { tick, type EventMaker } from "./event-maker.js";
import type { Commit, CommitResult, PhasedDeadlineOptions } from "./live-options.js";
import { isPromiseLike, type Maybe } from "./maybe.js";
import type { DeadlineOutcome, Refused } from "./outcome.js";
import { progressOf, type ProgressReport } from "./progress-report.js";
import { rebaseClock } from "./rebase.js";
import type { DeadlineState } from "./state.js";

/** Wait before a commit is tried again that failed for another reason than a conflict. */
const COMMIT_RETRY_MS = 1000;

/** So often is an event decided anew on a winner's state before its sender hears of the contention. */
const MAX_CONFLICTS = 16;

const FENCED: Refused = Object.freeze({ applied: false, why: "stale-attempt", changed: false });

/**
 * Runs one attempt whose truth is in a store: a decision holds once it is stored.
 *
 * Decisions are made one after another, each as of the instant at which its event came. When another writer was
 * faster, its state is adopted and the event is decided again on that, so that nobody acts on an old snapshot.
 * Progress is decided at once and stored at a bounded rate; should another writer win in between, it is decided
 * again as well.
 *
 * @internal
 */
export class CommittedRunner extends DeadlineRunner {
  readonly #commit: Commit;
  #committedVersion: number;
  /** Progress that is decided and not stored: the latest report of each run, step and part. */
  readonly #unsaved = new Map<string, ProgressEvent>();
  /** Whether the state was moved onto another clock and no store has it yet. */
  #rebasing: boolean;
  /** Settles when the decisions made so far are stored, `undefined` while none is under way. */
  #latest: PromiseLike<unknown> | undefined;
  /** Jobs under way that nobody waits for. */
  #background = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  #superseded: SlipwayError | undefined;

  constructor(state: DeadlineState, options: PhasedDeadlineOptions, storedVersion: number, commit: Commit) {
    super(state, options, storedVersion);
    this.#commit = commit;
    this.#committedVersion = storedVersion;
    this.#rebasing = state.version !== storedVersion;
  }

  override watch(): void {
    super.watch();
    if (this.#rebasing) this.flush();
  }

  /** Always a promise, though the store may have answered at once. */
  override async answer(make: EventMaker): Promise<DeadlineOutcome> {
    return this.submit(make);
  }

  override progress(report: ProgressReport): Promise<DeadlineOutcome> {
    // Read now, because it may be decided later, and then on a winner's state.
    const { phase } = report;
    const said = progressOf(this.state, report);
    return this.answer((state) => ({ ...said, phase: phase ?? state.phase }));
  }

  override submit(make: EventMaker): Maybe<DeadlineOutcome> {
    const now = this.clock.now();
    return this.#enqueue(() => this.#decide(make, now, 0));
  }

  override refresh(): DeadlineState {
    const now = this.clock.now();
    if (!this.disposed && this.#background === 0 && now >= this.#retryAt && this.isDue(now)) {
      this.#inBackground(() => this.submit(tick));
    }
    return this.state;
  }

  protected override get stopped(): SlipwayError | undefined {
    return this.#superseded;
  }

  protected override get heldUntil(): number {
    return Math.max(super.heldUntil, this.#retryAt);
  }

  get #retryAt(): number {
    return this.#failedAt + COMMIT_RETRY_MS;
  }

  /** What is stored is announced; what is not, once it is. */
  protected override letOut(next: DeadlineState, now: number, event: DeadlineEvent | undefined): void {
    if (next.version <= this.#committedVersion) this.announceChange(next, now);
    else if (event !== undefined) this.flush();
    else this.flushAt(now + this.progressEveryMs);
  }

  protected override flush(): void {
    this.#inBackground(() => this.#enqueue(() => this.#save(0)));
  }

  protected override armAgain(): void {
    if (this.#background === 0) this.arm(this.#retryAt);
  }

  #decide(make: EventMaker, now: number, conflicts: number): Maybe<DeadlineOutcome> {
    if (this.#superseded !== undefined) return FENCED;
    const event = make(this.state);
    const step = applyDeadlineEvent(this.state, event, now);
    if (!step.outcome.changed) return step.outcome;
    if (event.type === "progress" && step.outcome.applied) {
      // Named explicitly: it is to count for this run only, whichever one another writer begins.
      const { run } = step.state;
      this.#unsaved.set(JSON.stringify([run, event.step, event.part]), { ...event, run });
      this.become(step.state, now, event);
      return step.outcome;
    }
    return this.#swap(step.state, (committed) => {
      if (committed) {
        this.become(step.state, now, event);
        return step.outcome;
      }
      if (conflicts >= MAX_CONFLICTS) throw contention(conflicts);
      return this.#decide(make, now, conflicts + 1);
    });
  }

  /** Stores what was decided since the last commit. */
  #save(conflicts: number): Maybe<void> {
    const { state } = this;
    if (this.#superseded !== undefined) return;
    if (state.version === this.#committedVersion) {
      this.announceChange(state, this.clock.now());
      return;
    }
    return this.#swap(state, (committed) => {
      if (committed) {
        this.announceChange(state, this.clock.now());
        return;
      }
      if (conflicts >= MAX_CONFLICTS) throw contention(conflicts);
      return this.#save(conflicts + 1);
    });
  }

  /** One compare-and-swap; on a conflict the winner's state is adopted before `then` hears of it. */
  #swap<T>(next: DeadlineState, then: (committed: boolean) => Maybe<T>): Maybe<T> {
    return chain(this.#commit(next, this.#committedVersion), (result) => {
      checkResult(result);
      if (result.committed) {
        this.#committedVersion = next.version;
        this.#unsaved.clear();
        this.#rebasing = false;
        this.#failedAt = Number.NEGATIVE_INFINITY;
      } else {
        this.#adopt(result.current);
      }
      return then(result.committed);
    });
  }

  #adopt(current: DeadlineState | null): void {
    if (current === null || current.attempt !== this.state.attempt) {
      this.#supersede(current);
      return;
    }
    this.#committedVersion = current.version;
    const now = this.clock.now();
    let state = this.#rebasing ? rebaseClock(current, now) : current;
    for (const [key, event] of this.#unsaved) {
      const step = applyDeadlineEvent(state, event, now);
      if (step.outcome.applied) state = step.state;
      else this.#unsaved.delete(key);
    }
    this.become(state, now);
  }

  /** Another attempt has the record, or nobody: whatever this object decides no longer counts. */
  #supersede(current: DeadlineState | null): void {
    const by = current === null ? "the removal of its record" : "another attempt";
    this.#superseded = new SlipwayError(
      "ATTEMPT_SUPERSEDED",
      `Attempt ${this.state.attempt} was superseded by ${by}`,
      {
        field: "attempt",
        value: current?.attempt,
      },
    );
    this.#unsaved.clear();
    this.arm();
    this.abortWhenOver();
  }

  /** Runs a job after those before it; at once, and without a promise, when there is none and the store answers so. */
  #enqueue<T>(job: () => Maybe<T>): Maybe<T> {
    const result = this.#latest === undefined ? job() : this.#latest.then(job);
    if (!isPromiseLike(result)) return result;
    const latest = result.then(ignore, ignore).then(() => {
      if (this.#latest === latest) this.#latest = undefined;
    });
    this.#latest = latest;
    return result;
  }

  /** Runs a job that nobody waits for. A failure is reported, and tried again at the next waking. */
  #inBackground(job: () => Maybe<unknown>): void {
    this.#background += 1;
    const failed = (error: unknown): void => {
      this.#failedAt = this.clock.now();
      // What could not be stored is due again, whether anything else is or not.
      if (this.state.version > this.#committedVersion) this.flushAt(this.#retryAt);
      this.report(error);
    };
    const finished = (): void => {
      this.#background -= 1;
      this.armAgain();
    };
    try {
      const result = job();
      if (isPromiseLike(result)) {
        void result.then(ignore, failed).then(finished);
        return;
      }
    } catch (error) {
      failed(error);
    }
    finished();
  }
}

function contention(conflicts: number): SlipwayError {
  return new SlipwayError("COMMIT_FAILED", `The store refused the commit ${conflicts + 1} times in a row`);
}

/** A commit that forgets to answer would otherwise be taken for one that was refused, or for one that was not. */
function checkResult(result: unknown): asserts result is CommitResult {
  const answer = result as Partial<Record<"committed" | "current", unknown>> | null | undefined;
  if (answer?.committed === true) return;
  if (answer?.committed === false && typeof answer.current === "object") return;
  const expected = "answered with { committed: true } or { committed: false, current }";
  throw invalid("INVALID_OPTION", "deadline option", "commit", expected, result, kindOf(result));
}

function chain<T>(
  result: CommitResult | PromiseLike<CommitResult>,
  next: (result: CommitResult) => Maybe<T>,
): Maybe<T> {
  return isPromiseLike(result) ? result.then(next) : next(result);
}

function ignore(): void {
  // The one who asked has the result; here only its end matters.
}
