import { invalid, kindOf } from "../errors.js";
import { phaseOf } from "./bounds.js";
import { NO_CLEANUP } from "./cleanup.js";
import { checkInstant, plain } from "./instant.js";
import { MAX_NAME_LENGTH } from "./limits.js";
import { definePlan, type DeadlinePhase, type DeadlinePlan, type PlanDefinition } from "./plan.js";
import { NO_MARKS } from "./progress.js";
import { expireIfDue } from "./settle.js";
import type { DeadlineState, RecordedConfiguration } from "./state.js";
import { openPhase } from "./window.js";

const NONE_SPENT: readonly string[] = Object.freeze([]);

/**
 * The configuration that is committed when an attempt starts.
 *
 * @public
 */
export interface StartConfiguration {
  /** Generation of the configuration, a safe integer, 0 or more. */
  readonly generation: number;
  /** Digest of its content. Without one the generation stands for the content. */
  readonly digest?: string | null | undefined;
  /** When it was committed, epoch milliseconds. Default: not known. */
  readonly committedAt?: number | null | undefined;
}

/**
 * The deadline that a new attempt is a part of.
 *
 * @public
 */
export interface ParentDeadline {
  /** Epoch milliseconds; `null` or absent: unlimited. */
  readonly deadlineAt?: number | null | undefined;
  /** What is left of it, in milliseconds. 0 where it is over, which leaves no room for an attempt. Default: not known. */
  readonly remainingMs?: number | null | undefined;
}

/**
 * How an attempt starts.
 *
 * @public
 */
export interface StartAttemptOptions {
  /** Fencing token minted for this attempt. Opaque and never reused: not the number that a user sees. */
  readonly attempt: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** What the attempt is to be admitted with. Default: none is known yet. */
  readonly configuration?: StartConfiguration | null | undefined;
  /**
   * The deadline this attempt is a part of: it is stored, and bounds the attempt whatever its plan says. The reading of
   * another deadline (`readDeadline`) is one.
   */
  readonly parent?: ParentDeadline | null | undefined;
  /** Refuse to start when the parent leaves less than this. Default 1. */
  readonly minStartMs?: number | undefined;
  /** Start in a later phase than the first, to adopt a record from before this library. */
  readonly phase?: string | undefined;
  /** The state of the attempt before this one: while it is active, or not cleaned up, none may start. */
  readonly previous?: DeadlineState | null | undefined;
}

/**
 * Why an attempt may not start.
 *
 * - `previous-active`: the attempt before it (`previous`) is neither over nor past its deadline.
 * - `token-reused`: `attempt` is the token of the attempt before it.
 * - `cleanup-pending`: what the attempt before it left is not cleaned up, and nobody waived that.
 * - `parent-too-short`: the parent's deadline leaves less than `minStartMs`; `remainingMs` says how much.
 *
 * @public
 */
export type StartRefusal = "previous-active" | "token-reused" | "cleanup-pending" | "parent-too-short";

/**
 * A fresh state, or why there is none.
 *
 * @public
 */
export type StartResult =
  | {
      /** The fresh state, for the caller to store. */
      readonly state: DeadlineState;
      /** Absent: the attempt started. */
      readonly refused?: undefined;
    }
  | {
      /** Absent: the attempt did not start. */
      readonly state?: undefined;
      /** Why it may not start. */
      readonly refused: StartRefusal;
      /** On `parent-too-short`: what the parent leaves. */
      readonly remainingMs?: number;
    };

/**
 * Starts an attempt: a new state under a new token, with nothing inherited from the attempt before it.
 *
 * @throws {@link SlipwayError} `INVALID_PLAN`, `INVALID_OPTION` or `INVALID_INSTANT` for a mistake. A start that the
 * rules forbid comes back as `refused`.
 *
 * @example
 * ```ts
 * import { definePlan, startAttempt } from "slipway";
 *
 * const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 60_000 }] });
 * const first = startAttempt(plan, { attempt: "a1", now: 0 });
 * startAttempt(plan, { attempt: "a2", now: 10, previous: first.state }).refused; // => "previous-active"
 * ```
 *
 * @public
 */
export function startAttempt(plan: DeadlinePlan | PlanDefinition, options: StartAttemptOptions): StartResult {
  const effective = definePlan(plan);
  if (typeof options !== "object" || (options as unknown) === null)
    throw invalid("INVALID_OPTION", "start option", "options", "an object", options, kindOf(options));
  return startAttemptAt(effective, options, options.now);
}

/** As {@link startAttempt}, for a caller with a clock: without a copy of the options that says the time. @internal */
export function startAttemptAt(
  plan: DeadlinePlan,
  options: Omit<StartAttemptOptions, "now">,
  now: number,
): StartResult {
  const phase = checkOptions(plan, options, now);
  const { attempt, previous } = options;
  if (previous !== undefined && previous !== null) {
    const refused = previousRefusal(previous, attempt, now);
    if (refused !== null) return { refused };
  }
  const parentDeadlineAt = options.parent?.deadlineAt ?? null;
  const remainingMs = leftOf(options.parent ?? null, now);
  if (remainingMs < Math.max(options.minStartMs ?? 1, 1)) return { refused: "parent-too-short", remainingMs };
  const opened = openPhase(phase, now);
  return {
    state: {
      schemaVersion: 1,
      version: 1,
      attempt,
      plan,
      status: "active",
      startedAt: now,
      observedAt: now,
      parentDeadlineAt,
      phase: phase.name,
      phaseEnteredAt: now,
      windowEndsAt: opened.windowEndsAt,
      pausedAt: null,
      pauseSeq: null,
      run: 0,
      marks: NO_MARKS,
      stallLimitMs: opened.stallLimitMs,
      stallEndsAt: opened.stallEndsAt,
      configuration: recorded(options.configuration ?? null, now),
      rejection: null,
      spentRejections: NONE_SPENT,
      expiry: null,
      completedAt: null,
      cancellation: null,
      cleanup: NO_CLEANUP,
    },
  };
}

/** A deadline that is over has no instant in force any more. */
function leftOf(parent: ParentDeadline | null, now: number): number {
  if (parent?.remainingMs === 0) return 0;
  const deadlineAt = parent?.deadlineAt ?? null;
  return deadlineAt === null ? Number.POSITIVE_INFINITY : Math.max(deadlineAt - now, 0);
}

/** An expiry that nobody has written yet counts: what is left to do then is the cleanup. */
function previousRefusal(previous: DeadlineState, attempt: string, now: number): StartRefusal | null {
  const current = expireIfDue(previous, Math.max(now, previous.observedAt));
  if (current.status === "active") return "previous-active";
  if (current.attempt === attempt) return "token-reused";
  return current.cleanup.status === "pending" ? "cleanup-pending" : null;
}

function recorded(configuration: StartConfiguration | null, now: number): RecordedConfiguration | null {
  if (configuration === null) return null;
  const { generation, digest, committedAt } = configuration;
  return {
    generation: plain(generation),
    digest: digest ?? null,
    committedAt: typeof committedAt === "number" ? plain(Math.min(committedAt, now)) : null,
  };
}

function checkOptions(
  plan: DeadlinePlan,
  options: Omit<StartAttemptOptions, "now">,
  now: number,
): DeadlinePhase {
  const { attempt, minStartMs, configuration, parent, previous } = options;
  checkInstant("now", now);
  if (typeof attempt !== "string" || attempt === "" || attempt.length > MAX_NAME_LENGTH) {
    throw wrong("attempt", `a token of 1 to ${MAX_NAME_LENGTH} characters`, attempt);
  }
  if (minStartMs !== undefined && !isCount(minStartMs)) {
    throw wrong("minStartMs", "a safe integer, 0 or more", minStartMs);
  }
  if (parent !== undefined && parent !== null) checkParent(parent);
  if (previous !== undefined && previous !== null && !isState(previous)) {
    throw wrong("previous", "a deadline state", previous);
  }
  const deadlineAt = parent?.deadlineAt ?? null;
  if (deadlineAt !== null) checkInstant("parent.deadlineAt", deadlineAt);
  if (configuration !== undefined && configuration !== null) checkConfiguration(configuration);
  const name = options.phase ?? plan.phases[0]?.name;
  const phase = name === undefined ? undefined : phaseOf(plan, name);
  if (phase === undefined) throw wrong("phase", "a phase of the plan", options.phase);
  return phase;
}

/** What has other fields and no `deadlineAt` is something else, a live deadline for instance, and no unlimited parent. */
function checkParent(parent: ParentDeadline): void {
  if (typeof parent !== "object" || !("deadlineAt" in parent || Object.keys(parent).length === 0)) {
    throw wrong("parent", "an object with a deadlineAt", parent);
  }
  const remainingMs = parent.remainingMs ?? 0;
  if (!(typeof remainingMs === "number" && remainingMs >= 0)) {
    throw wrong("parent.remainingMs", "milliseconds, 0 or more", remainingMs);
  }
}

function checkConfiguration(configuration: StartConfiguration): void {
  const { generation, committedAt } = configuration;
  const digest = configuration.digest ?? undefined;
  if (!isCount(generation)) throw wrong("configuration.generation", "a safe integer, 0 or more", generation);
  if (
    digest !== undefined &&
    (typeof digest !== "string" || digest === "" || digest.length > MAX_NAME_LENGTH)
  ) {
    throw wrong("configuration.digest", `a digest of 1 to ${MAX_NAME_LENGTH} characters, or absent`, digest);
  }
  if (committedAt !== undefined && committedAt !== null)
    checkInstant("configuration.committedAt", committedAt);
}

function isState(value: unknown): boolean {
  const { schemaVersion, plan } = Object(value) as Readonly<Record<string, unknown>>;
  return schemaVersion === 1 && plan !== undefined;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function wrong(field: string, expected: string, value: unknown): Error {
  return invalid("INVALID_OPTION", "start option", field, expected, value);
}
