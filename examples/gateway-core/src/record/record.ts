import type { Condition, DeadlineState } from "slipway";
import type { TrackerState } from "slipway/progress";
import type { Json, JsonObject } from "./json.js";
import type { Intent, Phase } from "./phase.js";

/** What the user asked for. It does not change during the sandbox's life. */
export interface SandboxSpec {
  readonly driver: string;
  readonly image: ImageSpec;
  /** The main process, an argument vector; the supervisor starts it after admission. */
  readonly command: readonly string[];
  readonly driverOptions: JsonObject;
  /** Budgets below the gateway's own, never above. */
  readonly budgets: BudgetOverrides;
}

export interface ImageSpec {
  /** The image's reference, or what a person calls it; progress lines name it. */
  readonly name: string;
  /** A file or directory on this machine, where the driver takes one. Each driver's `check` decides. */
  readonly path?: string | undefined;
  /** Parts of a directory that make up the image; absent means all of it. */
  readonly include?: readonly string[] | undefined;
}

export interface BudgetOverrides {
  readonly preparationMs?: number | undefined;
  readonly admissionMs?: number | undefined;
  readonly stallMs?: number | undefined;
}

/** The configuration as it was last committed. `policy` is any JSON object: only the supervisor judges it. */
export interface Configuration {
  readonly generation: number;
  readonly digest: string;
  readonly committedAt: number;
  readonly policy: JsonObject;
}

/** One start of the workload. `handle` is the driver's, when it gave one. */
export interface Instance {
  readonly id: string;
  readonly run: number;
  readonly handle: Json | null;
  /** When the driver's work was taken up. */
  readonly startedAt: number;
  /** When the driver said, or was seen to have, started the supervisor; `null` while its work is not done. */
  readonly launchedAt: number | null;
}

/** The id of a run of a sandbox. Runs are counted through all attempts, so none is ever given twice. */
export function instanceIdOf(sandboxId: string, run: number): string {
  return `${sandboxId}-r${run}`;
}

/** Who does the driver's work for this sandbox at present, and until when nobody else may. */
export interface WorkLease {
  readonly owner: string;
  readonly until: number;
}

/** Where the admission of the current attempt's configuration stands. */
export type Admission = "pending" | "accepted" | "rejected";

/** Everything the gateway keeps of a sandbox. Identity and workspace outlive every attempt. */
export interface SandboxRecord {
  readonly schemaVersion: 4;
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly spec: SandboxSpec;
  readonly configuration: Configuration;
  readonly desired: Intent;
  readonly phase: Phase;
  /** When `phase` last changed. */
  readonly since: number;
  /** When phase, intent or result were last written: an older observation does not empty a backend. */
  readonly updatedAt: number;
  readonly reason: string;
  readonly message: string;
  readonly conditions: readonly Condition[];
  /** Number of the attempt for people; the deadline carries the opaque token. */
  readonly attemptNumber: number;
  /** A start was asked for and waits, for instance for a cleanup. */
  readonly startPending: boolean;
  readonly startRequestedAt: number | null;
  /** When the run before the current start ended. */
  readonly previousFinishedAt: number | null;
  /** When a gateway that ended asked for a stop of what ran, if none has come up since. */
  readonly shutdownStopAt: number | null;
  /** The isolation backend that was selected at creation. Nothing else may run this sandbox. `null`: none was. */
  readonly isolationBackend: string | null;
  /** Automatic restarts in a row, without a run that lasted in between. */
  readonly restarts: number;
  /** A `Starting` record waits until then for its automatic restart. */
  readonly restartAt: number | null;
  readonly deadline: DeadlineState | null;
  readonly admission: Admission | null;
  /** The configuration that the supervisor last said it runs with, 0 before the first. */
  readonly appliedGeneration: number;
  /** The latest start of the driver's work, counted through all attempts; 0 before the first. */
  readonly run: number;
  /** Starts of the driver's work that failed in a row, for the wait before the next. */
  readonly launchFailures: number;
  readonly launchNotBefore: number;
  readonly lease: WorkLease | null;
  readonly instance: Instance | null;
  /** The run whose supervisor may start, or has started, the main process. It is never started again. */
  readonly activatedRun: number | null;
  /** How far the driver's work of this attempt has come, over all its runs. */
  readonly steps: TrackerState;
  readonly cleanupFailures: number;
  readonly cleanupNotBefore: number;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly finishedAt: number | null;
}

/** Whether a supervisor of the current run still has something to do here. */
export function isServed(record: SandboxRecord): boolean {
  const { phase, desired, deadline } = record;
  if (deadline?.status === "active") return true;
  const runs = phase === "Ready" || phase === "Provisioning" || phase === "Starting" || phase === "Unknown";
  return deadline?.status === "completed" && desired === "running" && (runs || isStoppedByOthers(record));
}

/** Why an attempt is over, so that its supervisor has nothing left to wait for; `null` while it is not. */
export function overReason(record: SandboxRecord): "expired" | "settled" | null {
  if (isServed(record)) return null;
  return record.deadline?.status === "expired" ? "expired" : "settled";
}

/**
 * Whether the run is being stopped by somebody who did not ask the gateway: a drained node, a person. Its supervisor has
 * its end to report, and one that takes its place has to say that the run is lost.
 */
export function isStoppedByOthers({ phase, desired }: SandboxRecord): boolean {
  return phase === "Stopping" && desired === "running";
}
