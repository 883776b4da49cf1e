import * as z from "zod";
import { definePlan, type DeadlineState } from "../deadline/index.js";
import { stateFaults } from "../deadline/invariants.js";
import {
  LAST_INSTANT,
  MAX_MARKS,
  MAX_NAME_LENGTH,
  MAX_REASON_LENGTH,
  MAX_SPENT,
} from "../deadline/limits.js";
import { planFaults } from "../deadline/plan.js";
import { invalid } from "../errors.js";
import { firstFault } from "./fault.js";
import { migrate, type Migration } from "./migrate.js";

const instant = z.int().min(-LAST_INSTANT).max(LAST_INSTANT);
const count = z.int().min(0);
const durationMs = z.int().min(1);
const name = z.string().min(1).max(MAX_NAME_LENGTH);
const reason = z.string().min(1).max(MAX_REASON_LENGTH);
const text = z.string().max(4096);

const phase = z.strictObject({
  name,
  budgetMs: durationMs.optional(),
  renewOn: z.literal("change").optional(),
  stallMs: z.union([durationMs, z.record(z.string(), durationMs)]).optional(),
  ceilingMs: durationMs.optional(),
  timeoutReason: reason,
});

const plan = z.strictObject({
  phases: z.array(phase).min(1),
  ceilingMs: durationMs.optional(),
  ceilingMayTruncate: z.boolean().optional(),
  cleanupBudgetMs: durationMs,
  observeEveryMs: durationMs,
});

const mark = z.strictObject({
  step: name.nullable(),
  part: name.nullable(),
  position: z.number().min(0).nullable(),
});

const cleanup = z.strictObject({
  status: z.enum(["none", "pending", "done", "waived"]),
  claims: count,
  claim: z.strictObject({ owner: name, at: instant, until: instant }).nullable(),
  error: text.nullable(),
  doneAt: instant.nullable(),
  waiver: z.strictObject({ by: name, reason: text, at: instant }).nullable(),
});

/**
 * The shape of a persisted deadline, schema version 1. {@link decodeDeadlineState} also checks what a shape cannot
 * say: that its instants do not contradict one another.
 *
 * @public
 */
export const deadlineStateSchema: z.ZodType<DeadlineState> = z.strictObject({
  schemaVersion: z.literal(1),
  version: z.int().min(1),
  attempt: name,
  plan,
  status: z.enum(["active", "expired", "completed", "cancelled"]),
  startedAt: instant,
  observedAt: instant,
  parentDeadlineAt: instant.nullable(),
  phase: name,
  phaseEnteredAt: instant,
  windowEndsAt: instant.nullable(),
  pausedAt: instant.nullable(),
  pauseSeq: count.nullable(),
  run: count,
  marks: z.array(mark).max(MAX_MARKS),
  stallLimitMs: durationMs.nullable(),
  stallEndsAt: instant.nullable(),
  configuration: z
    .strictObject({ generation: count, digest: name.nullable(), committedAt: instant.nullable() })
    .nullable(),
  rejection: z
    .strictObject({ generation: count, at: instant, reason: text.nullable(), message: text.nullable() })
    .nullable(),
  spentRejections: z.array(z.string().min(1).max(300)).max(MAX_SPENT),
  expiry: z
    .strictObject({
      phase: name,
      limitedBy: z.enum(["budget", "phase-ceiling", "attempt-ceiling", "parent", "stall"]),
      at: instant,
      observedAt: instant,
      reason,
      message: text,
    })
    .nullable(),
  completedAt: instant.nullable(),
  cancellation: z.strictObject({ at: instant, reason: text }).nullable(),
  cleanup,
});

const CURRENT_VERSION = 1;

/** By the version that a migration reads. Version 1 is the first, so there is nothing older to read yet. */
const migrations: ReadonlyMap<number, Migration> = new Map();

/**
 * Reads a persisted deadline, strictly: a record that is partial, damaged or contradicts itself is an error and is
 * never taken for a fresh window.
 *
 * @param value - What `JSON.parse` gave for a stored {@link DeadlineState}.
 *
 * @throws `SlipwayError` with code `INVALID_STATE` naming the field and the value found there, or
 * `UNSUPPORTED_SCHEMA_VERSION` for a version that this release does not know.
 *
 * @example
 * ```ts
 * import { definePlan, startAttempt } from "slipway";
 * import { decodeDeadlineState } from "slipway/schema";
 *
 * const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 900 }] });
 * const { state } = startAttempt(plan, { attempt: "a1", now: 0 });
 * decodeDeadlineState(JSON.parse(JSON.stringify(state))).windowEndsAt; // => 900
 * ```
 *
 * @public
 */
export function decodeDeadlineState(value: unknown): DeadlineState {
  const migrated = migrate(value, "deadline state", CURRENT_VERSION, migrations);
  const parsed = deadlineStateSchema.safeParse(migrated);
  if (!parsed.success) {
    const fault = firstFault(parsed.error, migrated);
    throw invalid("INVALID_STATE", "deadline state", fault.field, fault.expected, fault.value);
  }
  // The plan as it was written: zod drops a key that is called __proto__, and the check must see it.
  for (const fault of planFaults((migrated as DeadlineState).plan)) {
    throw invalid("INVALID_STATE", "deadline state", `plan.${fault.field}`, fault.expected, fault.value);
  }
  const state: DeadlineState = { ...parsed.data, plan: definePlan(parsed.data.plan) };
  for (const fault of stateFaults(state)) {
    throw invalid("INVALID_STATE", "deadline state", fault.field, fault.expected, fault.value);
  }
  return state;
}
