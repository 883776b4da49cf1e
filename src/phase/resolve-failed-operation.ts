import { checkObject, checkOperation } from "./check-input.js";
import { isOwnEnd } from "./evidence.js";
import type { Operation } from "./gates/index.js";
import type { Observation } from "./observation.js";
import { reconcileRecord } from "./reconcile-record.js";
import type { PhasePolicy, SandboxRecord, Session } from "./record.js";
import { enter, unchanged, type Transition } from "./transition.js";

/**
 * What a failed driver call makes of the record that was written before it: look first, then decide.
 *
 * A driver's error does not say whether the call took effect. Stop and start keep the transition when the look-up is
 * inconclusive, because repeating them is harmless; delete restores what was before. A start that was refused over
 * the previous run's exited container restores `Stopped` instead of making an error of it; an end that is known to be
 * the new run's, by its time or by an instance id that the run before did not have, is its result. Write the result by
 * compare-and-swap on the version of `record`: a newer write wins.
 *
 * @param record - As written when the operation was accepted.
 * @param previous - As it was before.
 * @param observation - A look made after the failure, for the run that `record` expects, or `previous` where a delete
 *   failed, which gives that back; `null` when the look failed too.
 * @param now - Epoch milliseconds. Default: the record's `since`.
 * @throws {@link SlipwayError} `INVALID_OPTION` for no record, or an unknown operation.
 *
 * @example
 * ```ts
 * import { resolveFailedOperation } from "slipway/phase";
 *
 * const previous = { phase: "Ready", desired: "running", since: 0 } as const;
 * const record = { phase: "Deleting", desired: "deleted", since: 5 } as const;
 * resolveFailedOperation(record, previous, "delete", null, 9).record.phase; // => "Ready"
 * ```
 *
 * @public
 */
export function resolveFailedOperation(
  record: SandboxRecord,
  previous: SandboxRecord,
  operation: Operation,
  observation: Observation | null,
  now?: number,
  policy?: PhasePolicy,
): Transition {
  checkObject("record", record);
  checkOperation(operation);
  const at = now ?? record.since;
  const seen = (observation?.exists ?? null) === null ? null : observation;
  switch (operation) {
    case "start":
      return seen === null ? unchanged(record) : failedStart(record, previous, seen, at, policy);
    case "stop":
      return seen === null ? unchanged(record) : failedStop(record, previous, seen, at, policy);
    case "delete":
      return failedDelete(record, previous, seen, at, policy);
  }
}

function failedStart(
  record: SandboxRecord,
  previous: SandboxRecord,
  seen: Observation,
  now: number,
  policy: PhasePolicy | undefined,
): Transition {
  if (record.phase !== "Starting" && record.phase !== "Provisioning") return unchanged(record);
  // The run that this start opened has ended already: its result must not be lost, nor its command be replayed.
  if (isAtRest(seen) && !isOwnEnd(record, seen)) return restore(record, previous, now);
  return applied(record, seen, now, policy);
}

/** The previous run's end, or a backend still told to be suspended: the start did not happen. */
function isAtRest(seen: Observation): boolean {
  return (
    seen.exists === true &&
    seen.deleting !== true &&
    seen.running === false &&
    (seen.suspended === true || seen.completed === true)
  );
}

function failedStop(
  record: SandboxRecord,
  previous: SandboxRecord,
  seen: Observation,
  now: number,
  policy: PhasePolicy | undefined,
): Transition {
  if (record.phase !== "Stopping") return unchanged(record);
  const refused =
    seen.exists === true &&
    seen.deleting !== true &&
    seen.running === true &&
    seen.terminating === false &&
    !seen.stale;
  return refused ? restore(record, previous, now) : applied(record, seen, now, policy);
}

function failedDelete(
  record: SandboxRecord,
  previous: SandboxRecord,
  seen: Observation | null,
  now: number,
  policy: PhasePolicy | undefined,
): Transition {
  if (record.phase !== "Deleting") return unchanged(record);
  if (seen === null) return restore(record, previous, now);
  if (seen.exists === true && seen.deleting !== true) {
    const restored = restore(record, previous, now).record;
    // What was Ready had its supervisor, and a backend that is ready still does not say that it is gone.
    const isReady = seen.running === true && (seen.ready === true || seen.readiness === "none");
    const session = previous.phase === "Ready" && isReady ? CONNECTED : null;
    return { record: applied(restored, seen, now, policy, session).record, changed: true, refused: null };
  }
  return applied(record, seen, now, policy);
}

const CONNECTED: Session = Object.freeze({ connected: true, instanceId: null });

function applied(
  record: SandboxRecord,
  seen: Observation,
  now: number,
  policy: PhasePolicy | undefined,
  session: Session | null = null,
): Transition {
  const { record: next, changed } = reconcileRecord(record, seen, session, now, policy);
  return { record: next, changed, refused: null };
}

/** What was before, as a new write: phase and intent go back, the moment does not. */
function restore(record: SandboxRecord, previous: SandboxRecord, now: number): Transition {
  checkObject("previous", previous);
  const back = enter(
    previous,
    previous.phase,
    previous.reason ?? previous.phase,
    previous.message ?? "",
    now,
  );
  return {
    record: {
      ...back,
      since: now,
      conditions: back.conditions,
      deadline: record.deadline ?? previous.deadline ?? null,
    },
    changed: true,
    refused: null,
  };
}
