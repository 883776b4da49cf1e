import type { Observation } from "./observation.js";
import { BACKEND_RESOURCE_MISSING } from "./reasons.js";
import { reconcileRecord } from "./reconcile-record.js";
import type { PhasePolicy, SandboxRecord } from "./record.js";
import { enter, unchanged, type Transition } from "./transition.js";

/**
 * What a gateway knows when it plans its start-up or its shutdown.
 *
 * @public
 */
export interface SweepOptions {
  /** The gateway stops compute on its own shutdown and starts it again (OpenShell: `gateway_manages_lifecycle`). */
  readonly managesLifecycle: boolean;
  /** A look at the backend, where one was made. */
  readonly observation?: Observation | null | undefined;
  /** What this gateway has decided once. Default: every field's own. */
  readonly policy?: PhasePolicy | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * What to do about one record in a sweep.
 *
 * @public
 */
export interface SweepPlan {
  /** The driver call to make, or `null`. */
  readonly call: "start" | "stop" | null;
  /** The record as the look at the backend left it: write it first when it changed. */
  readonly record: SandboxRecord;
  /** Whether there is something to write. */
  readonly changed: boolean;
  /** End the sandbox's sessions. */
  readonly sessionCleanup: boolean;
}

/**
 * How a recovery call ended.
 *
 * @public
 */
export type RecoveryResult = "ok" | "not-found" | "error";

/** A runtime that went down under a healthy sandbox: started again (NVIDIA/OpenShell#2269). */
const RESUMABLE: ReadonlySet<string> = new Set(["ContainerRuntimeRestart", "ContainerStopped"]);

/**
 * What a gateway does about a record when it comes up, before its watches start.
 *
 * `Stopping` is finished and `Starting` is started again, whatever the driver. Where the gateway manages the
 * lifecycle, everything that was to run is started; a result is never replayed, also one that only the look at the
 * backend shows, except after a runtime restart.
 *
 * @example
 * ```ts
 * import { planRecovery } from "slipway/phase";
 *
 * const record = { phase: "Stopping", desired: "stopped", since: 0 } as const;
 * planRecovery(record, { managesLifecycle: false, now: Date.now() }).call; // => "stop"
 * ```
 *
 * @public
 */
export function planRecovery(record: SandboxRecord, options: SweepOptions): SweepPlan {
  const seen = options.observation ?? null;
  if (seen !== null && record.phase !== "Stopping") {
    const looked = reconcileRecord(record, seen, null, options.now, options.policy);
    const { phase } = looked.record;
    if (looked.changed && phase !== record.phase && (phase === "Error" || phase === "Completed"))
      return { call: null, record: looked.record, changed: true, sessionCleanup: true };
  }
  return {
    call: recoveryCall(record, options),
    record,
    changed: false,
    sessionCleanup: record.phase === "Stopped",
  };
}

function recoveryCall(record: SandboxRecord, { managesLifecycle, policy }: SweepOptions): SweepPlan["call"] {
  // A result that was stopped afterwards keeps its phase; nothing starts it but a user.
  if (record.desired !== "running" && record.phase !== "Stopping") return null;
  switch (record.phase) {
    case "Stopping":
      return "stop";
    case "Starting":
      return "start";
    case "Provisioning":
    case "Ready":
    case "Unknown":
      return managesLifecycle ? "start" : null;
    case "Error":
      return managesLifecycle && isResumable(record, policy) ? "start" : null;
    case "Stopped":
    case "Completed":
    case "Deleting":
    case "Deleted":
      return null;
  }
}

function isResumable({ reason, exitCode }: SandboxRecord, policy: PhasePolicy | undefined): boolean {
  if (typeof reason !== "string") return false;
  if (policy?.recoverable?.includes(reason) === true) return true;
  return typeof exitCode !== "number" && RESUMABLE.has(reason);
}

/**
 * The record after a recovery call. A start fences off what happened while the gateway was down.
 *
 * @example
 * ```ts
 * import { applyRecovery } from "slipway/phase";
 *
 * const record = { phase: "Ready", desired: "running", since: 0 } as const;
 * const options = { managesLifecycle: true, now: Date.now() };
 * applyRecovery(record, "start", "not-found", options).record.reason; // => "BackendResourceMissing"
 * ```
 *
 * @public
 */
export function applyRecovery(
  record: SandboxRecord,
  call: "start" | "stop",
  result: RecoveryResult,
  options: SweepOptions,
): Transition {
  const { now } = options;
  if (call === "stop") {
    if (result === "error") return unchanged(record);
    return {
      record: enter(record, "Stopped", "Stopped", "Stopped; the gateway finished it when it came up.", now),
      changed: true,
      refused: null,
    };
  }
  if (result === "ok") return { record: restarted(record, now), changed: true, refused: null };
  // A start that was accepted before is retained for its retry; the deadline bounds it.
  if (record.phase === "Starting" && (result === "error" || !options.managesLifecycle))
    return unchanged(record);
  if (record.phase === "Error") return unchanged(record);
  const next =
    result === "not-found"
      ? enter(
          record,
          "Error",
          BACKEND_RESOURCE_MISSING,
          "The compute object was gone when the gateway came up.",
          now,
        )
      : enter(
          record,
          "Error",
          "StartFailed",
          "The sandbox could not be started when the gateway came up.",
          now,
        );
  return { record: next, changed: true, refused: null };
}

function restarted(record: SandboxRecord, now: number): SandboxRecord {
  const fenced: SandboxRecord = {
    ...record,
    startRequestedAt: now,
    previousFinishedAt: record.finishedAt ?? record.previousFinishedAt ?? null,
    exitCode: null,
    finishedAt: null,
    updatedAt: now,
  };
  return record.phase === "Error"
    ? enter(fenced, "Provisioning", "Resumed", "Started again after its runtime went down.", now)
    : fenced;
}

/**
 * What a gateway does about a record when it shuts down: stops what runs, where it manages the lifecycle, and leaves
 * the record as it is, so that the intent to run survives.
 *
 * @example
 * ```ts
 * import { planShutdown } from "slipway/phase";
 *
 * const record = { phase: "Ready", desired: "running", since: 0 } as const;
 * planShutdown(record, { managesLifecycle: true, now: Date.now() }).call; // => "stop"
 * ```
 *
 * @public
 */
export function planShutdown(record: SandboxRecord, options: SweepOptions): SweepPlan {
  const runs =
    record.phase === "Provisioning" ||
    record.phase === "Starting" ||
    record.phase === "Ready" ||
    record.phase === "Unknown";
  return {
    call: options.managesLifecycle && runs ? "stop" : null,
    record,
    changed: false,
    sessionCleanup: false,
  };
}
