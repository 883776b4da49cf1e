import { SlipwayError } from "../errors.js";
import { applyDeadlineEvent } from "./apply.js";
import { DeadlineRunner, type Maybe } from "./deadline-runner.js";
import type { DeadlineEvent, ProgressEvent } from "./event.js";
import type { Commit, CommitResult, PhasedDeadlineOptions } from "./live-options.js";
import type { DeadlineOutcome } from "./outcome.js";
import type { DeadlineState } from "./state.js";

/** Wait before a commit is tried again that failed for another reason than a conflict. */
const COMMIT_RETRY_MS = 1000;

/** So often is an event decided anew on a winner's state before its sender hears of the contention. */
const MAX_CONFLICTS = 16;

/**
 * Runs one attempt whose truth is in a store: a decision holds once it is stored.
 *
 * Decisions are made one after another. When another writer was faster, its state is adopted and the event is
 * decided again on that, so that nobody acts on an old snapshot. Progress is decided at once and stored at a bounded
 * rate; should another writer win in between, it is decided again as well.
 *
 * @internal
 */
export class CommittedRunner extends DeadlineRunner {
  readonly #commit: Commit;
  #committedVersion: number;
  #unsaved: ProgressEvent[] = [];
  /** Settles when the decisions made so far are stored, `undefined` while none is under way. */
  #tail: PromiseLike<unknown> | undefined;
  /** Jobs under way that nobody waits for. */
  #background = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  #superseded: SlipwayError | undefined;

  constructor(state: DeadlineState, options: PhasedDeadlineOptions, commit: Commit) {
    super(state, options);
    this.#commit = commit;
    this.#committedVersion = state.version;
  }

  /** Always a promise, though the store may have answered at once. */
  override async answer(event: DeadlineEvent): Promise<DeadlineOutcome> {
    return this.submit(event);
  }

  override submit(event: DeadlineEvent): Maybe<DeadlineOutcome> {
    return this.#enqueue(() => this.#decide(event, 0));
  }

  override look(): DeadlineState {
    const now = this.clock.now();
    if (this.#background === 0 && now >= this.#failedAt + COMMIT_RETRY_MS && this.isDue(now)) {
      this.#inBackground(() => this.submit({ type: "tick" }));
    }
    return this.state;
  }

  override rebase(): void {
    super.rebase();
    if (this.state.version !== this.#committedVersion) this.flush();
  }

  protected override get stopped(): SlipwayError | undefined {
    return this.#superseded;
  }

  /** What is stored is announced; what is not, once it is. */
  protected override publish(now: number): void {
    if (this.state.version === this.#committedVersion) this.saveNews(now);
    else this.flush();
  }

  protected override flush(): void {
    this.#inBackground(() => this.#enqueue(() => this.#save()));
  }

  protected override wakeLater(): void {
    if (this.#background === 0) this.arm(this.#failedAt + COMMIT_RETRY_MS);
  }

  #decide(event: DeadlineEvent, conflicts: number): Maybe<DeadlineOutcome> {
    const now = this.clock.now();
    const step = applyDeadlineEvent(this.state, event, now);
    if (!step.outcome.changed) return step.outcome;
    if (event.type === "progress" && step.outcome.applied) {
      this.#unsaved.push(event);
      this.become(step.state, now, event);
      return step.outcome;
    }
    return chain(this.#commit(step.state, this.#committedVersion), (result) => {
      if (result.committed) {
        this.#saved(step.state);
        this.become(step.state, now, event);
        return step.outcome;
      }
      this.#adopt(result.current);
      if (result.current === null) return { applied: false, why: "stale-attempt", changed: false };
      if (conflicts >= MAX_CONFLICTS) throw contention(conflicts);
      return this.#decide(event, conflicts + 1);
    });
  }

  /** Stores what was decided since the last commit. */
  #save(): Maybe<void> {
    const { state } = this;
    if (this.#superseded !== undefined) return;
    if (state.version === this.#committedVersion) {
      this.saveNews(this.clock.now());
      return;
    }
    return chain(this.#commit(state, this.#committedVersion), (result) => {
      if (result.committed) {
        this.#saved(state);
        this.saveNews(this.clock.now());
      } else {
        this.#adopt(result.current);
      }
    });
  }

  #saved(state: DeadlineState): void {
    this.#committedVersion = state.version;
    this.#unsaved = [];
    this.#failedAt = Number.NEGATIVE_INFINITY;
  }

  #adopt(current: DeadlineState | null): void {
    if (current === null || current.attempt !== this.state.attempt) {
      this.#superseded = new SlipwayError(
        "ATTEMPT_SUPERSEDED",
        `Attempt ${this.state.attempt} was superseded by ${current === null ? "the removal of its record" : "another attempt"}`,
        { field: "attempt", value: current?.attempt },
      );
      this.#unsaved = [];
      this.stop(current ?? this.state);
      return;
    }
    this.#committedVersion = current.version;
    const now = this.clock.now();
    let state = current;
    this.#unsaved = this.#unsaved.filter((event) => {
      const step = applyDeadlineEvent(state, event, now);
      if (step.outcome.applied) state = step.state;
      return step.outcome.applied;
    });
    this.become(state, now);
  }

  /** Runs a job after those before it; at once, and without a promise, when there is none and the store answers so. */
  #enqueue<T>(job: () => Maybe<T>): Maybe<T> {
    const result = this.#tail === undefined ? job() : this.#tail.then(job);
    if (!isPromiseLike(result)) return result;
    const tail = result.then(ignore, ignore).then(() => {
      if (this.#tail === tail) this.#tail = undefined;
    });
    this.#tail = tail;
    return result;
  }

  /** Runs a job that nobody waits for. A failure is reported, and tried again at the next waking. */
  #inBackground(job: () => Maybe<unknown>): void {
    this.#background += 1;
    const failed = (error: unknown): void => {
      this.#failedAt = this.clock.now();
      this.report(error);
    };
    const finished = (): void => {
      this.#background -= 1;
      this.wakeLater();
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

function chain<T>(
  result: CommitResult | PromiseLike<CommitResult>,
  next: (result: CommitResult) => Maybe<T>,
): Maybe<T> {
  return isPromiseLike(result) ? result.then(next) : next(result);
}

function isPromiseLike<T>(value: Maybe<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function ignore(): void {
  // The one who asked has the result; here only its end matters.
}
