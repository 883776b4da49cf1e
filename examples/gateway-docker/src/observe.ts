import { observeDockerInspect, type ExpectedRun, type Observation } from "slipway/phase";
import { LABEL } from "./marks.js";

/** What the engine was found to have of one sandbox. */
export interface Found {
  /** The inspect answer of the container that counts: of the expected run, or else of the latest. */
  readonly inspect: unknown;
  readonly workspace: boolean;
  /** A container of the expected run was started, the gateway has it in writing. */
  readonly wasStarted: boolean;
  /** This process is at work on a container right now. */
  readonly launching: boolean;
  readonly observedAt: number;
  /** How far the engine's clock, which dates ends, is ahead of the gateway's, which dates everything else. */
  readonly skewMs: number;
}

/**
 * The facts of one sandbox. What lasts of it is the workspace: each run is a container of its own, so that a sandbox
 * without a container is one that nothing runs for, and one without a workspace is gone.
 */
export function observeSandbox(found: Found, run: ExpectedRun): Observation {
  const { inspect, launching, observedAt, skewMs, wasStarted, workspace } = found;
  const { instanceId = null, desired = "running" } = run;
  if (inspect !== null) {
    // The label says whose end it is. By its time it could be told as well, as far as the clocks are known: one that is
    // behind would put the end of a short run before its start.
    const expected = instanceId === null ? onEngineClock(run, skewMs) : { instanceId, desired };
    const seen = observeDockerInspect(
      { inspect },
      { run: expected, observedAt, instanceKey: LABEL.instance },
    );
    // A container that is being removed, by us between two runs or by somebody else, takes the sandbox with it only
    // when that was asked for.
    const deleting = seen.deleting === true && desired === "deleted";
    return { ...seen, deleting, finishedAt: shifted(seen.finishedAt, -skewMs) };
  }
  const absent = observeDockerInspect({ inspect: null, error: { statusCode: 404 } }, { run, observedAt });
  if (!workspace) return absent;
  const lost = wasStarted && !launching && desired === "running";
  return {
    ...absent,
    exists: true,
    deleting: desired === "deleted",
    // Whether another process is at work on a container cannot be seen at the engine.
    bootstrapping: launching ? true : wasStarted || desired !== "running" ? false : null,
    failureReason: lost ? "ComputeResourceMissing" : null,
    failureClass: lost ? "terminal" : null,
    message: lost ? "The container of this run was removed by somebody else." : null,
  };
}

/** Ends are compared with these by the clock that dated them. */
function onEngineClock(run: ExpectedRun, skewMs: number): ExpectedRun {
  const { previousFinishedAt = null, startRequestedAt = null } = run;
  return {
    ...run,
    previousFinishedAt: shifted(previousFinishedAt, skewMs),
    startRequestedAt: shifted(startRequestedAt, skewMs),
  };
}

function shifted(instant: number | null, byMs: number): number | null {
  return instant === null ? null : instant + byMs;
}
