import {
  readDeadline,
  type Condition,
  type DeadlineBounds,
  type DeadlineExpiry,
  type LimitedBy,
} from "slipway";
import type { Refusal } from "../gateway/refusals.js";
import type { JsonObject } from "../record/json.js";
import type { Intent, Phase } from "../record/phase.js";
import type { Admission, ImageSpec, SandboxRecord, StepView } from "../record/record.js";

/** A sandbox as the API shows it. The attempt's token and the driver's handle are not in it. */
export interface SandboxView {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly createdAt: number;
  readonly phase: Phase;
  readonly since: number;
  readonly reason: string;
  readonly message: string;
  readonly desired: Intent;
  readonly startPending: boolean;
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
  readonly bounds: DeadlineBounds;
  readonly budgets: Readonly<Record<string, number | null>>;
  readonly rejection: { readonly generation: number; readonly message: string | null } | null;
  readonly expiry: DeadlineExpiry | null;
  readonly cleanup: { readonly status: string; readonly claims: number; readonly error: string | null };
}

export function viewOf(
  record: SandboxRecord,
  version: number,
  now: number,
  refusals: readonly Refusal[],
): SandboxView {
  const { id, name, createdAt, phase, since, reason, message, desired, startPending, spec } = record;
  return {
    id,
    name,
    version,
    createdAt,
    phase,
    since,
    reason,
    message,
    desired,
    startPending,
    attempt: record.attemptNumber,
    run: record.run,
    image: spec.image,
    command: spec.command,
    configuration: record.configuration,
    appliedGeneration: record.appliedGeneration,
    admission: record.admission,
    deadline: deadlineView(record, now),
    steps: record.steps,
    conditions: record.conditions,
    exitCode: record.exitCode,
    exitSignal: record.exitSignal,
    finishedAt: record.finishedAt,
    refusals,
  };
}

function deadlineView({ deadline }: SandboxRecord, now: number): DeadlineView | null {
  if (deadline === null) return null;
  const { status, phase, deadlineAt, remainingMs, elapsedMs, limitedBy, bounds } = readDeadline(
    deadline,
    now,
  );
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
