import { invalid } from "../errors.js";
import { checkObject } from "./check-input.js";
import { isShutdownEnd } from "./evidence.js";
import {
  MAIN_PROCESS_COMPLETED,
  MAIN_PROCESS_FAILED,
  catalogName,
  provisionalExitReasons,
  timeoutReasons,
} from "./reasons.js";
import type { SandboxRecord } from "./record.js";
import { enter, unchanged, type Transition } from "./transition.js";

/**
 * The supervisor's report that the main process has ended.
 *
 * @public
 */
export interface ExitReport {
  /** The run that ended. */
  readonly instanceId: string | null;
  /** Exit code of the main process; death by a signal is 128 + n. */
  readonly exitCode: number;
  /** When it ended, epoch milliseconds; what is finer is cut off. Default: `now`. */
  readonly finishedAt?: number | null | undefined;
}

/**
 * What the end of the main process makes of a record.
 *
 * The first exit code wins, another run's report is ignored, and a stop that was asked for, a delete, the gateway's own
 * shutdown ({@link planShutdown}) and an expired attempt absorb it; while somebody else stops the run (`Stopping`, intent
 * `running`) it is a result as at any time.
 * What a driver said of the exit before (`ContainerExited`) was provisional: the report replaces it, code 0 makes a
 * completion of it. Any other error keeps its phase and reason and only gains the code. While `Starting`, the stored
 * instance id is the previous run's, so that its late report changes nothing.
 *
 * Rules after NVIDIA/OpenShell's exit handling (#2884, #2857).
 *
 * @param now - Epoch milliseconds. Default: the record's `since`.
 * @throws {@link SlipwayError} `INVALID_EVENT` when the exit code is not an integer, or the time of the end no instant.
 *
 * @example
 * ```ts
 * import { applyExitReport } from "slipway/phase";
 *
 * const record = { phase: "Ready", desired: "running", since: 0, instanceId: "i-1" } as const;
 * applyExitReport(record, { instanceId: "i-1", exitCode: 0 }, Date.now()).record.phase; // => "Completed"
 * ```
 *
 * @public
 */
export function applyExitReport(record: SandboxRecord, report: ExitReport, now?: number): Transition {
  checkObject("record", record);
  checkObject("report", report);
  if (!Number.isSafeInteger(report.exitCode))
    throw invalid("INVALID_EVENT", "exit report", "exitCode", "an integer", report.exitCode);
  const at: unknown = report.finishedAt ?? null;
  if (at !== null && !(typeof at === "number" && Number.isSafeInteger(Math.floor(at))))
    throw invalid("INVALID_EVENT", "exit report", "finishedAt", "a number of epoch milliseconds", at);
  const { phase } = record;
  if (isAbsorbed(record)) return unchanged(record, "phase");
  if (isOtherRun(record, report)) return unchanged(record, "other-run");
  if (isShutdownEnd(record, report.finishedAt ?? null)) return unchanged(record, "shutdown");
  if (typeof record.exitCode === "number" && phase !== "Starting")
    return unchanged(record, "first-code-wins");
  return (phase === "Error" ? enrich : ended)(record, report, now ?? record.since);
}

/** A stop or delete that was asked for is the cause of the end. What somebody else stops ends with a result. */
function isAbsorbed({ phase, desired }: SandboxRecord): boolean {
  if (phase === "Stopping") return desired !== "running";
  return phase === "Deleting" || phase === "Deleted" || phase === "Stopped";
}

function isOtherRun(record: SandboxRecord, { instanceId }: ExitReport): boolean {
  const known = record.instanceId ?? null;
  if (record.phase === "Starting") {
    const expected = record.expectedInstanceId ?? null;
    if (expected !== null) return instanceId !== expected;
    return known !== null && instanceId === known;
  }
  return known !== null && instanceId !== null && instanceId !== known;
}

function enrich(record: SandboxRecord, report: ExitReport, now: number): Transition {
  const { reason } = record;
  if (typeof reason === "string" && timeoutReasons.has(reason)) return unchanged(record, "expired");
  if (typeof reason !== "string" || provisionalExitReasons.has(catalogName(reason)))
    return ended(record, report, now);
  return {
    record: {
      ...record,
      exitCode: report.exitCode,
      finishedAt: finishedAt(record, report, now),
      updatedAt: now,
    },
    changed: true,
    refused: null,
  };
}

function ended(record: SandboxRecord, report: ExitReport, now: number): Transition {
  const well = report.exitCode === 0;
  const next = well
    ? enter(record, "Completed", MAIN_PROCESS_COMPLETED, "The main process ended with success.", now)
    : enter(
        record,
        "Error",
        MAIN_PROCESS_FAILED,
        `The main process ended with exit code ${report.exitCode}.`,
        now,
      );
  return {
    record: {
      ...next,
      instanceId: report.instanceId ?? record.instanceId ?? null,
      expectedInstanceId: null,
      exitCode: report.exitCode,
      finishedAt: finishedAt(record, report, now),
    },
    changed: true,
    refused: null,
  };
}

function finishedAt(record: SandboxRecord, report: ExitReport, now: number): number {
  const known = record.phase === "Starting" ? null : record.finishedAt;
  const reported = report.finishedAt ?? null;
  // What an engine counts finer than in milliseconds is cut off, as an observer does.
  return known ?? (reported === null ? now : Math.floor(reported));
}
