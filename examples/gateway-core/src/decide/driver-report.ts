import { exponentialBackoff } from "slipway";
import { UNTOLD_FAILURE } from "../record/exit-codes.js";
import type { Json } from "../record/json.js";
import { isComingUp } from "../record/phase.js";
import { instanceIdOf, type Instance, type SandboxRecord } from "../record/record.js";
import { applyToDeadline, observeTime, withPhase, type Decision, type PhaseReason } from "./decision.js";
import { withWaiting } from "./waiting.js";

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
  const observed = observeTime(found, now);
  if (!mayLaunch(observed, mint.owner, now)) return { record: observed, result: null };
  // Whoever waited for somebody else is gone: this run has to find out for itself whether there is anything to wait for.
  const record = withWaiting(observed, false, now);
  const run = record.run + 1;
  const id = instanceIdOf(record.id, run);
  const instance = { id, run, handle: null, startedAt: now, launchedAt: null };
  const lease = { owner: mint.owner, until: now + mint.leaseMs };
  return { record: { ...record, run, instance, lease }, result: instance };
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
  // A run that does not count has not ended the wait of the one that does.
  const running = withWaiting(record, false, now);
  return { record: { ...running, instance: started, lease: null }, result: true };
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
export function relaunch(found: SandboxRecord, message: string, now: number): SandboxRecord {
  const record = withWaiting(found, false, now);
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
