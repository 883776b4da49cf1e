import type { Condition } from "../conditions/index.js";
import { checkObject } from "./check-input.js";
import type { Phase } from "./phase.js";

/**
 * What the caller last asked for and was granted.
 *
 * @public
 */
export type DesiredState = "running" | "stopped" | "deleted";

/**
 * What the phase rules and the gates read of an attempt's deadline. A reading of a phased deadline fits.
 *
 * @public
 */
export interface DeadlineFacts {
  /** The instant at which the attempt is over, epoch milliseconds. `null`: unlimited or settled. */
  readonly deadlineAt: number | null;
  /** The deadline's phase. For messages only. */
  readonly phase?: string | undefined;
  /** Whether the deadline is in its last phase. `false` forbids Ready; absent makes no claim. */
  readonly lastPhase?: boolean | undefined;
  /** The reason to publish on expiry. Default: `ProvisioningTimedOut` in the last phase, else `ImagePreparationTimedOut`. */
  readonly timeoutReason?: string | undefined;
  /** Whether the cleanup of an expired attempt is still owed. It blocks the next start. */
  readonly cleanupPending?: boolean | undefined;
}

/**
 * What the gateway keeps about a sandbox. Plain JSON; instants are epoch milliseconds.
 *
 * @public
 */
export interface SandboxRecord {
  /** Where the sandbox stands, as last written. */
  readonly phase: Phase;
  /** What the caller last asked for and was granted. */
  readonly desired: DesiredState;
  /** When the phase was entered. */
  readonly since: number;
  /** When the record was last written. An observation that is older proves nothing about an empty backend. */
  readonly updatedAt?: number | null | undefined;
  /** Identity of the run that was last confirmed by its supervisor. While `Starting` it is the previous run's. */
  readonly instanceId?: string | null | undefined;
  /** Identity given to the start that is under way, when the gateway gives one. */
  readonly expectedInstanceId?: string | null | undefined;
  /** When the start that is under way, or the last one, was accepted. */
  readonly startRequestedAt?: number | null | undefined;
  /** When the run before the current start ended: evidence up to then is history. */
  readonly previousFinishedAt?: number | null | undefined;
  /**
   * When a gateway that manages the lifecycle asked for the run to be stopped because it ended itself: an end from then
   * on is that gateway's doing and no result. `null` or absent: it did not.
   */
  readonly shutdownStopAt?: number | null | undefined;
  /** Exit code of the main process, once the run is over. */
  readonly exitCode?: number | null | undefined;
  /** When the run ended. */
  readonly finishedAt?: number | null | undefined;
  /** Why the sandbox is in this phase: a word of the reason catalog. */
  readonly reason?: string | null | undefined;
  /** The same for people: never parse it. */
  readonly message?: string | null | undefined;
  /** What the admitter says of the configuration. `pending` and `rejected` forbid Ready. */
  readonly admission?: "pending" | "accepted" | "rejected" | undefined;
  /** The deadline of the attempt under way or last made; `null` or absent: none. */
  readonly deadline?: DeadlineFacts | null | undefined;
  /** What is published about the sandbox, each type once. */
  readonly conditions?: readonly Condition[] | undefined;
  /** Generation of the sandbox's specification. */
  readonly generation?: number | null | undefined;
}

/**
 * The supervisor's connection to the gateway.
 *
 * @public
 */
export interface Session {
  /** Whether the supervisor is connected now. */
  readonly connected: boolean;
  /** The run that the supervisor speaks for. `null`: it does not say. */
  readonly instanceId?: string | null | undefined;
}

/**
 * What a gateway decides once for its drivers.
 *
 * @public
 */
export interface PhasePolicy {
  /** Ready needs a live session of this instance. Default `false`. */
  readonly requireSession?: boolean | undefined;
  /** The driver removes the compute object when it stops a sandbox, so that absence confirms a stop. Default `false`. */
  readonly removesComputeOnStop?: boolean | undefined;
  /** Reasons of a result from which an automatic start is welcome, a backend's words by their catalog name too. Default: none. */
  readonly recoverable?: readonly string[] | undefined;
}

/**
 * The run that evidence has to be about. Observers drop what belongs to another one.
 *
 * @public
 */
export interface ExpectedRun {
  /** Identity of the run; `null` or absent: not known, and evidence of any run counts. */
  readonly instanceId?: string | null | undefined;
  /** When the run before ended, epoch milliseconds: evidence up to then is history. */
  readonly previousFinishedAt?: number | null | undefined;
  /** When the start was accepted, epoch milliseconds. */
  readonly startRequestedAt?: number | null | undefined;
  /** What the caller last asked for. */
  readonly desired?: DesiredState | undefined;
  /** The run is past its start: an end that has no time is its own. Default `false`. */
  readonly confirmed?: boolean | undefined;
}

/**
 * The run that a record expects, for an observer's options.
 *
 * It names none where a start was stopped before anybody saw it come about: its own run and the one before both count.
 *
 * @example
 * ```ts
 * import { expectedRun, observeDockerInspect } from "slipway/phase";
 *
 * const record = { phase: "Starting", desired: "running", since: 0, startRequestedAt: 1_800_000_000_000 } as const;
 * const inspect = { State: { Status: "exited", ExitCode: 1, FinishedAt: "2026-10-20T11:40:02Z" } };
 * observeDockerInspect({ inspect }, { run: expectedRun(record) }).stale; // => true
 * ```
 *
 * @public
 */
export function expectedRun(record: SandboxRecord): ExpectedRun {
  checkObject("record", record);
  // A stop of a start that nobody saw come about may meet the run before, and may never meet its own: each counts.
  const isKnown = record.expectedInstanceId ? record.desired === "running" : record.phase !== "Starting";
  return {
    instanceId: isKnown ? (record.expectedInstanceId ?? record.instanceId ?? null) : null,
    previousFinishedAt: record.previousFinishedAt ?? null,
    startRequestedAt: record.startRequestedAt ?? null,
    desired: record.desired,
    // Only what is past its start is Ready, or is stopped by somebody else.
    confirmed: record.phase === "Ready" || record.phase === "Stopping",
  };
}
