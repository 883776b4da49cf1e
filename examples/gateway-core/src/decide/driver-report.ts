import { exponentialBackoff, type DeadlineOutcome } from "slipway";
import type { DriverProgress } from "../driver/driver.js";
import { PREPARATION } from "../gateway/budgets.js";
import { UNTOLD_FAILURE } from "../record/exit-codes.js";
import type { Json } from "../record/json.js";
import { isComingUp } from "../record/phase.js";
import { instanceIdOf, type Instance, type SandboxRecord, type StepView } from "../record/record.js";
import { applyToDeadline, observeTime, withPhase, type Decision, type PhaseReason } from "./decision.js";

const backoff = exponentialBackoff({ initialMs: 500, factor: 2, capMs: 30_000, jitter: "none" });

export interface MintRun {
  readonly owner: string;
  readonly leaseMs: number;
}

/**
 * Takes the driver's work for an attempt that needs it: a new run, higher than any before, and a lease that keeps
 * other gateways away. The deadline is the one that there is: starting the work again grants nothing.
 */
export function mintRun(found: SandboxRecord, mint: MintRun, now: number): Decision<Instance | null> {
  const record = observeTime(found, now);
  if (!mayLaunch(record, mint.owner, now)) return { record, result: null };
  const run = record.run + 1;
  const id = instanceIdOf(record.id, run);
  const instance = { id, run, handle: null, startedAt: now, launchedAt: null };
  const lease = { owner: mint.owner, until: now + mint.leaseMs };
  return { record: { ...record, run, instance, lease, steps: [] }, result: instance };
}

/** Whether an attempt waits for the driver's work and this owner may do it. */
export function mayLaunch(record: SandboxRecord, owner: string, now: number): boolean {
  const { phase, deadline, instance, lease } = record;
  if (!isComingUp(phase) || deadline?.status !== "active" || record.desired !== "running") return false;
  if (instance !== null && instance.launchedAt !== null) return false;
  if (lease !== null && lease.owner !== owner && now < lease.until) return false;
  return now >= record.launchNotBefore && record.activatedRun === null;
}

export function renewLease(
  found: SandboxRecord,
  mint: MintRun & { run: number },
  now: number,
): Decision<boolean> {
  const record = observeTime(found, now);
  const mine = record.lease?.owner === mint.owner && record.run === mint.run && isComingUp(record.phase);
  if (!mine) return { record, result: false };
  return { record: { ...record, lease: { owner: mint.owner, until: now + mint.leaseMs } }, result: true };
}

export interface RunProgress {
  readonly attempt: string;
  readonly run: number;
  readonly progress: DriverProgress;
}

/** A driver's sign of work. It moves the marks and re-arms the stall limit; it never opens a window. */
export function recordProgress(
  record: SandboxRecord,
  { attempt, run, progress }: RunProgress,
  now: number,
): Decision<DeadlineOutcome> {
  const { step, position, done } = progress;
  const event = { type: "progress", attempt, phase: PREPARATION, step, position, run } as const;
  const { record: next, outcome } = applyToDeadline(record, event, now);
  const current = next.deadline?.status === "active" && next.deadline.attempt === attempt && next.run === run;
  // The last report of a step repeats its position: as progress it is old news, as its end it is not.
  const ends = done === true && (next.steps.find((view) => view.step === step)?.finishedAt ?? null) === null;
  if (!current || !(outcome.applied || ends)) return { record: next, result: outcome };
  return { record: { ...next, steps: withStep(next.steps, progress, now) }, result: outcome };
}

function withStep(steps: readonly StepView[], progress: DriverProgress, now: number): readonly StepView[] {
  const before = steps.find((view) => view.step === progress.step);
  const view: StepView = {
    step: progress.step,
    label: progress.label,
    subject: progress.subject,
    unit: progress.unit,
    position: progress.position ?? before?.position ?? null,
    total: progress.total ?? before?.total ?? null,
    startedAt: before?.startedAt ?? now,
    updatedAt: now,
    finishedAt: progress.done === true ? now : null,
  };
  return before === undefined ? [...steps, view] : steps.map((other) => (other === before ? view : other));
}

/** The driver started the supervisor, or it was found started. False when this run is not the one that counts. */
export function recordLaunched(
  found: SandboxRecord,
  launched: { readonly run: number; readonly handle: Json | null },
  now: number,
): Decision<boolean> {
  const record = observeTime(found, now);
  const { instance, deadline } = record;
  const alive = deadline?.status === "active" || deadline?.status === "completed";
  if (instance?.run !== launched.run || !alive || record.desired !== "running")
    return { record, result: false };
  const handle = launched.handle ?? instance.handle;
  const started = { ...instance, handle, launchedAt: instance.launchedAt ?? now };
  return { record: { ...record, instance: started, lease: null }, result: true };
}

/** The driver could not start the work. What trying again may mend is tried again, within the same deadline. */
export function recordLaunchFailure(
  found: SandboxRecord,
  failure: { readonly run: number; readonly permanent: boolean } & PhaseReason,
  now: number,
): Decision<boolean> {
  const record = observeTime(found, now);
  if (record.instance?.run !== failure.run || record.deadline?.status !== "active")
    return { record, result: false };
  if (failure.permanent) return { record: fail(record, failure, now), result: true };
  return { record: relaunch(record, failure.message, now), result: true };
}

/** What is known of a supervisor's end. */
interface SupervisorEnd {
  /** Whether a start of the main process was claimed and never reported as done. */
  readonly uncertain?: boolean;
  readonly exitCode?: number | null;
  /** What the backend says of it. */
  readonly message?: string | null;
}

/**
 * The supervisor of a run ended before it was admitted: it is started again, within the same deadline. One that was
 * admitted is not: its main process may have done work, which is not done a second time behind the user's back.
 *
 * @param uncertain - It had claimed the start of the main process, and never said that it took place.
 */
export function recordSupervisorGone(
  found: SandboxRecord,
  run: number,
  now: number,
  { uncertain = false, exitCode = null, message = null }: SupervisorEnd = {},
): Decision<boolean> {
  const record = observeTime(found, now);
  const waits = isComingUp(record.phase) && record.deadline?.status === "active";
  if (record.instance?.run !== run || !waits) return { record, result: false };
  if (record.activatedRun === null) {
    if (exitCode !== UNTOLD_FAILURE)
      return { record: relaunch(record, "the supervisor ended before admission", now), result: true };
    // Another one would end the same way.
    const untold = "the supervisor ended for good and could not tell why: its own log does";
    return {
      record: fail(record, { reason: "BootstrapFailed", message: message ?? untold }, now),
      result: true,
    };
  }
  if (!uncertain) return { record, result: false };
  const ended = "the supervisor ended while it started the main process";
  return { record: fail(record, { reason: "LocalActivationUncertain", message: ended }, now), result: true };
}

function fail(record: SandboxRecord, failure: PhaseReason, now: number): SandboxRecord {
  const attempt = record.deadline?.attempt ?? "";
  const cancelled = applyToDeadline(record, { type: "cancel", attempt, reason: failure.message }, now).record;
  return withPhase({ ...cancelled, lease: null, finishedAt: now }, "Error", failure, now);
}

/** The driver's work begins again after a while, under a new run and the old deadline. */
export function relaunch(record: SandboxRecord, message: string, now: number): SandboxRecord {
  const failures = record.launchFailures + 1;
  const wait = backoff.delayMs(failures);
  const retry = {
    ...record,
    instance: null,
    lease: null,
    launchFailures: failures,
    launchNotBefore: now + wait,
  };
  return { ...retry, message };
}
