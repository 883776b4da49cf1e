import {
  convertConditions,
  getCondition,
  readDeadline,
  type AllowedOperations,
  type Condition,
  type DeadlineBounds,
  type DeadlineExpiry,
  type LimitedBy,
} from "slipway";
import type { Standing } from "../decide/standing.js";
import type { Refusal } from "../gateway/refusals.js";
import { shownPolicy } from "../gateway/secrets.js";
import type { JsonObject } from "../record/json.js";
import type { Intent, Phase } from "../record/phase.js";
import { gatewayReasons } from "../record/reasons.js";
import type { Admission, ImageSpec, SandboxRecord } from "../record/record.js";
import { stepViews, type StepView } from "./step-view.js";

/**
 * A sandbox as the API shows it. The attempt's token and the driver's handle are not in it, nor what the variables of
 * the main process are set to.
 */
export interface SandboxView {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly createdAt: number;
  readonly phase: Phase;
  readonly since: number;
  readonly reason: string;
  readonly message: string;
  /** What may be done now: each with its route, or why not, and the rule that says so. */
  readonly operations: AllowedOperations;
  /** What the rules make of the record and the latest look at its backend. */
  readonly decision: DecisionView;
  readonly desired: Intent;
  readonly startPending: boolean;
  readonly restarts: number;
  readonly restartAt: number | null;
  readonly isolationBackend: string | null;
  readonly driver: string;
  readonly attempt: number;
  readonly run: number;
  readonly image: ImageSpec;
  readonly command: readonly string[];
  readonly configuration: { generation: number; digest: string; committedAt: number; policy: JsonObject };
  readonly appliedGeneration: number;
  readonly admission: Admission | null;
  readonly deadline: DeadlineView | null;
  readonly steps: readonly StepView[];
  readonly conditions: readonly Condition[];
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly finishedAt: number | null;
  readonly refusals: readonly Refusal[];
}

export type DecisionView = Pick<
  Standing["decision"],
  "phase" | "reason" | "message" | "rule" | "used" | "rejected" | "stale"
>;

/** What a view takes beside the record. */
export interface ViewContext {
  readonly now: number;
  readonly refusals: readonly Refusal[];
  readonly standing: Standing;
  /** The contract of reasons that the reader asked for. */
  readonly contract: number;
}

export interface DeadlineView {
  readonly status: string;
  /** The version of the deadline's state: it grows with every change and with nothing else. */
  readonly version: number;
  readonly phase: string;
  readonly startedAt: number;
  readonly phaseEnteredAt: number;
  readonly deadlineAt: number | null;
  /** `null` when unlimited. */
  readonly remainingMs: number | null;
  readonly elapsedMs: number;
  readonly limitedBy: LimitedBy | null;
  /** Since when budget and stall stand still, because the driver waits for somebody else's work; `null`: they run. */
  readonly pausedAt: number | null;
  /** While it is paused, what is left of the budget. */
  readonly pausedBudgetMs: number | null;
  /** Whether a change of the configuration opens a new window of the current phase. */
  readonly renewable: boolean;
  readonly bounds: DeadlineBounds;
  readonly budgets: Readonly<Record<string, number | null>>;
  readonly rejection: { readonly generation: number; readonly message: string | null } | null;
  readonly expiry: DeadlineExpiry | null;
  readonly cleanup: { readonly status: string; readonly claims: number; readonly error: string | null };
}

export function viewOf(record: SandboxRecord, version: number, context: ViewContext): SandboxView {
  const { id, name, createdAt, phase, since, message, desired, startPending, spec } = record;
  const { now, refusals, standing, contract } = context;
  const conditions = convertConditions(record.conditions, { catalog: gatewayReasons, contract });
  return {
    id,
    name,
    version,
    createdAt,
    phase,
    since,
    reason: publishedReason(record, conditions),
    message,
    operations: standing.operations,
    decision: decisionView(standing),
    desired,
    startPending,
    restarts: record.restarts,
    restartAt: record.restartAt,
    isolationBackend: record.isolationBackend,
    driver: spec.driver,
    attempt: record.attemptNumber,
    run: record.run,
    image: spec.image,
    command: spec.command,
    configuration: { ...record.configuration, policy: shownPolicy(record.configuration.policy) },
    appliedGeneration: record.appliedGeneration,
    admission: record.admission,
    deadline: deadlineView(record, now),
    steps: stepViews(record, now),
    conditions,
    exitCode: record.exitCode,
    exitSignal: record.exitSignal,
    finishedAt: record.finishedAt,
    refusals,
  };
}

/** The reason as the reader's contract has it: the one that Ready shows, where both say the same. */
function publishedReason({ reason, conditions }: SandboxRecord, converted: readonly Condition[]): string {
  const stated = getCondition(conditions, "Ready")?.reason === reason;
  return (stated ? getCondition(converted, "Ready")?.reason : undefined) ?? reason;
}

function decisionView({ decision }: Standing): DecisionView {
  const { phase, reason, message, rule, used, rejected, stale } = decision;
  return { phase, reason, message, rule, used, rejected, stale };
}

function deadlineView({ deadline }: SandboxRecord, now: number): DeadlineView | null {
  if (deadline === null) return null;
  const reading = readDeadline(deadline, now);
  const { status, phase, deadlineAt, remainingMs, elapsedMs, limitedBy, bounds, pausedBudgetMs } = reading;
  return {
    status,
    version: deadline.version,
    phase,
    startedAt: deadline.startedAt,
    phaseEnteredAt: deadline.phaseEnteredAt,
    deadlineAt,
    remainingMs: Number.isFinite(remainingMs) ? remainingMs : null,
    elapsedMs,
    limitedBy,
    pausedAt: reading.paused ? deadline.pausedAt : null,
    pausedBudgetMs,
    renewable: deadline.plan.phases.find(({ name }) => name === phase)?.renewOn === "change",
    bounds,
    budgets: Object.fromEntries(deadline.plan.phases.map(({ name, budgetMs }) => [name, budgetMs ?? null])),
    rejection: deadline.rejection && {
      generation: deadline.rejection.generation,
      message: deadline.rejection.message,
    },
    expiry: deadline.expiry,
    cleanup: {
      status: deadline.cleanup.status,
      claims: deadline.cleanup.claims,
      error: deadline.cleanup.error,
    },
  };
}
