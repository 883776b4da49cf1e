import type {
  DeadlineEvent,
  DeadlineOutcome,
  DeadlinePlan,
  LimitedBy,
  RefusalReason,
} from "../../src/deadline/index.js";

type EventOfType<Type> = Extract<DeadlineEvent, { type: Type }>;
interface Configuration {
  readonly generation: number;
  readonly digest: string | null;
  readonly committedAt: number | null;
}

const least = (...instants: (number | null | undefined)[]): number =>
  Math.min(...instants.map((instant) => instant ?? Infinity));
const plus = (at: number, ms: number | undefined): number | null => (ms === undefined ? null : at + ms);

/**
 * Section 4 of the design a second time, written from its text alone: one object that changes, bounds that are worked
 * out anew each time, and no care for speed or size. Where it and `src/deadline` differ, one of the two misread.
 */
export class DeadlineModel {
  status: "active" | "expired" | "completed" | "cancelled" = "active";
  cleanup: "none" | "pending" | "done" | "waived" = "none";
  phase = 0;
  phaseEnteredAt = 0;
  observedAt: number;
  windowEndsAt: number | null = null;
  stallLimitMs: number | null = null;
  stallEndsAt: number | null = null;
  pausedAt: number | null = null;
  run = 0;
  isRejected = false;
  expiry: { limitedBy: LimitedBy; at: number; observedAt: number } | null = null;
  claims = 0;
  configuration: Configuration | null;
  readonly #plan: DeadlinePlan;
  readonly #startedAt: number;
  readonly #parentDeadlineAt: number | null;
  #pauseSeq: number | null = null;
  #claim: { owner: string; until: number } | null = null;
  /** Position by (step, part), of this phase and run. */
  #marks = new Map<string, number | null>();
  /** Steps with a stall limit, in the order in which they began. */
  #begun: string[] = [];
  readonly #rejectedContents = new Set<string>();

  constructor(
    plan: DeadlinePlan,
    now: number,
    configuration: Configuration | null,
    parentDeadlineAt: number | null,
  ) {
    this.#plan = plan;
    this.configuration = configuration;
    this.#parentDeadlineAt = parentDeadlineAt;
    this.observedAt = now;
    this.#startedAt = now;
    this.#open(0, now);
  }

  get phasePlan(): DeadlinePlan["phases"][number] {
    const found = this.#plan.phases[this.phase];
    if (found === undefined) throw new Error("no such phase");
    return found;
  }

  /** The earliest of five bounds; of equals the first. */
  deadline(): { limitedBy: LimitedBy | null; at: number } {
    const runs = this.pausedAt === null;
    const bounds: [LimitedBy, number | null][] = [
      ["budget", runs ? this.windowEndsAt : null],
      ["phase-ceiling", plus(this.phaseEnteredAt, this.phasePlan.ceilingMs)],
      ["attempt-ceiling", plus(this.#startedAt, this.#plan.ceilingMs)],
      ["parent", this.#parentDeadlineAt],
      ["stall", runs ? this.stallEndsAt : null],
    ];
    const at = least(...bounds.map(([, bound]) => bound));
    return { at, limitedBy: bounds.find(([, bound]) => bound === at)?.[0] ?? null };
  }

  apply(event: DeadlineEvent, at: number): DeadlineOutcome {
    const now = Math.max(at, this.observedAt);
    const { limitedBy, at: deadlineAt } = this.deadline();
    const found = this.status === "active" && limitedBy !== null && now >= deadlineAt;
    if (found) {
      this.status = "expired";
      this.cleanup = "pending";
      this.observedAt = now;
      this.expiry = { limitedBy, at: deadlineAt, observedAt: now };
    }
    const why = this.#fence(event, found);
    if (why !== undefined) return { applied: false, why, changed: found };
    const answer = this.#own(event, now);
    if (typeof answer === "string") return { applied: false, why: answer, changed: false };
    if (answer === null) return { applied: true, changed: false };
    this.observedAt = now;
    return { applied: true, changed: true, ...answer };
  }

  #fence(event: DeadlineEvent, found: boolean): RefusalReason | undefined {
    if (event.type !== "tick" && event.attempt !== "a1") return "stale-attempt";
    if (found) return "expired";
    const isCleanup = ["claim-cleanup", "cleanup-done", "waive-cleanup"].includes(event.type);
    return this.status !== "active" && !isCleanup ? "settled" : undefined;
  }

  /** What the event says of itself, `null` where it changes nothing, or why it is refused. */
  #own(event: DeadlineEvent, now: number): RefusalReason | object | null {
    switch (event.type) {
      case "tick":
        return now - this.observedAt > this.#plan.observeEveryMs ? {} : null;
      case "progress":
        return this.#progress(event, now);
      case "enter":
        return this.#enter(event, now);
      case "change":
        return this.#change(event, now);
      case "reject":
        return this.#reject(event, now);
      case "pause":
      case "resume":
        return this.#pauseOrResume(event, now);
      case "complete":
        if (this.phase !== this.#plan.phases.length - 1) return "not-final-phase";
        this.status = "completed";
        return {};
      case "cancel":
        this.status = "cancelled";
        this.cleanup = "pending";
        return {};
      default:
        return this.#clean(event, now);
    }
  }

  #open(phase: number, now: number): void {
    const from = this.pausedAt ?? now;
    this.phase = phase;
    this.phaseEnteredAt = now;
    const { budgetMs, stallMs } = this.phasePlan;
    this.windowEndsAt = plus(from, budgetMs);
    this.stallLimitMs = typeof stallMs === "number" ? stallMs : null;
    this.stallEndsAt = plus(from, this.stallLimitMs ?? undefined);
    this.isRejected = false;
    this.#marks.clear();
    this.#begun = [];
  }

  #indexOf(phase: string): number {
    return this.#plan.phases.findIndex(({ name }) => name === phase);
  }

  #progress(event: EventOfType<"progress">, now: number): RefusalReason | object {
    const phase = this.#indexOf(event.phase);
    if (phase !== this.phase) return phase < 0 ? "unknown-phase" : "other-phase";
    const { run = this.run, position = null, step = null, part = null } = event;
    if (run < this.run) return "stale-run";
    if (position !== null && !(position >= 0 && position < Infinity)) return "invalid-position";
    const key = JSON.stringify([step, part]);
    const mark = this.#marks.get(key);
    const isNew = run > this.run || mark === undefined;
    if (!isNew && (position === null || (mark !== null && position <= mark))) return "duplicate";
    if (run > this.run) {
      this.run = run;
      this.#marks.clear();
      this.#begun = [];
    }
    this.#marks.set(key, position);
    const { stallMs } = this.phasePlan;
    const limit = typeof stallMs === "object" && step !== null ? stallMs[step] : undefined;
    if (step !== null && limit !== undefined && !this.#begun.includes(step)) {
      this.#begun.push(step);
      this.stallLimitMs = limit;
    }
    this.stallEndsAt = plus(this.pausedAt ?? now, this.stallLimitMs ?? undefined);
    return {};
  }

  #enter(event: EventOfType<"enter">, now: number): RefusalReason | object {
    const phase = this.#indexOf(event.phase);
    if (phase < 0) return "unknown-phase";
    if (phase <= this.phase) return phase === this.phase ? "duplicate" : "backward";
    this.#open(phase, now);
    return {};
  }

  /** A window from an instant on, where that ends later than the present one. */
  #renew(from: number): boolean {
    const { budgetMs } = this.phasePlan;
    if (budgetMs === undefined || this.windowEndsAt === null || from + budgetMs <= this.windowEndsAt)
      return false;
    this.windowEndsAt = from + budgetMs;
    return true;
  }

  #change(event: EventOfType<"change">, now: number): RefusalReason | object {
    const before = this.configuration;
    if (before !== null && event.generation <= before.generation) return "unchanged";
    const committedAt = Math.min(event.committedAt ?? now, now);
    if (before !== null && before.committedAt !== null && committedAt < before.committedAt)
      return "stale-commit";
    const digest = event.digest ?? null;
    this.configuration = { generation: event.generation, digest, committedAt };
    if (before !== null && digest !== null && digest === before.digest) return { renewed: false };
    this.isRejected = false;
    const renews = before !== null && this.phasePlan.renewOn === "change";
    return { renewed: renews && this.#renew(least(committedAt, this.pausedAt)) };
  }

  #reject(event: EventOfType<"reject">, now: number): RefusalReason | object {
    if (this.phasePlan.renewOn !== "change") return "other-phase";
    const { configuration } = this;
    if (configuration?.generation !== event.generation) return "not-current";
    const { digest } = configuration;
    if (typeof event.digest === "string" && digest !== null && event.digest !== digest) return "not-current";
    if (this.isRejected) return "duplicate";
    this.isRejected = true;
    const content = digest === null ? `generation ${configuration.generation}` : `digest ${digest}`;
    if (this.#rejectedContents.has(content)) return { renewed: false };
    this.#rejectedContents.add(content);
    return { renewed: this.#renew(this.pausedAt ?? now) };
  }

  #pauseOrResume(event: EventOfType<"pause" | "resume">, now: number): RefusalReason | object {
    if (this.#plan.ceilingMs === undefined) return "not-pausable";
    if (this.#pauseSeq !== null && event.seq <= this.#pauseSeq) return "duplicate";
    this.#pauseSeq = event.seq;
    if (event.type === "pause") this.pausedAt ??= now;
    else if (this.pausedAt !== null) {
      const frozen = now - this.pausedAt;
      if (this.windowEndsAt !== null) this.windowEndsAt += frozen;
      if (this.stallEndsAt !== null) this.stallEndsAt += frozen;
      this.pausedAt = null;
    }
    return {};
  }

  #clean(
    event: EventOfType<"claim-cleanup" | "cleanup-done" | "waive-cleanup">,
    now: number,
  ): RefusalReason | object {
    const claim = this.#claim;
    if (event.type === "cleanup-done") {
      if (claim === null || event.claim !== this.claims) return "not-owner";
      const overrun = now >= claim.until;
      this.#claim = null;
      if (event.ok && !overrun) this.cleanup = "done";
      return overrun ? { overrun } : {};
    }
    if (this.cleanup !== "pending") return "not-needed";
    if (event.type === "waive-cleanup") {
      this.cleanup = "waived";
      this.#claim = null;
      return {};
    }
    if (claim !== null && claim.owner !== event.owner && now < claim.until) return "claimed";
    this.claims += 1;
    this.#claim = { owner: event.owner, until: now + this.#plan.cleanupBudgetMs };
    return { claim: this.claims };
  }
}
