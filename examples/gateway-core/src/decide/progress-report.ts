import { deadlineProgress } from "slipway/progress";
import type { DriverProgress } from "../driver/driver.js";
import { PREPARATION } from "../gateway/budgets.js";
import type { SandboxRecord } from "../record/record.js";
import { reportSteps } from "../record/steps.js";
import { applyToDeadline, observeTime, type Decision } from "./decision.js";
import { withWaiting } from "./waiting.js";

export interface RunProgress {
  readonly attempt: string;
  readonly run: number;
  readonly progress: DriverProgress;
}

/** Whether a report was news, or why it was not. */
export type ProgressResult = { readonly applied: true } | { readonly applied: false; readonly why: string };

/**
 * A driver's sign of work. It moves the steps; what rises there raises the deadline's marks and re-arms its stall limit,
 * and opens no window. While the driver waits for somebody else's work the budget stands still.
 */
export function recordProgress(
  found: SandboxRecord,
  { attempt, run, progress }: RunProgress,
  now: number,
): Decision<ProgressResult> {
  const observed = observeTime(found, now);
  const why = overtaken(found, observed, attempt, run);
  if (why !== null) return { record: observed, result: { applied: false, why } };
  const { image } = observed.spec;
  const { steps, outcomes } = reportSteps(observed.steps, progress, { run, image }, now);
  const refusals = outcomes.flatMap((outcome) => (outcome.applied ? [] : [outcome.why]));
  const refused = refusals.length === outcomes.length ? (refusals[0] ?? "duplicate") : null;
  if (refused !== null && refused !== "duplicate") {
    return { record: observed, result: { applied: false, why: refused } };
  }
  const { instance } = observed;
  // What is started waits for nobody, and neither does what has ended: such a report comes late.
  const isLaunching = instance?.run === run && instance.launchedAt === null;
  const waits = isLaunching && progress.waiting === true && progress.done !== true;
  // Time runs again before what was done in it counts, and stands still after.
  let record = waits ? observed : withWaiting(observed, false, now);
  if (steps !== record.steps) record = { ...record, steps };
  for (const outcome of outcomes) {
    const event = deadlineProgress(outcome, { attempt, phase: PREPARATION });
    if (event !== null) record = applyToDeadline(record, event, now).record;
  }
  record = withWaiting(record, waits, now);
  return { record, result: refused === null ? { applied: true } : { applied: false, why: refused } };
}

/** Why nothing that this run of the driver's work says counts any more, `null` when it does. */
function overtaken(
  before: SandboxRecord,
  { deadline, run }: SandboxRecord,
  attempt: string,
  reporting: number,
): string | null {
  if (deadline === null) return "settled";
  if (deadline.attempt !== attempt) return "stale-attempt";
  if (deadline.status !== "active") return before.deadline?.status === "active" ? "expired" : "settled";
  return run === reporting ? null : "stale-run";
}
