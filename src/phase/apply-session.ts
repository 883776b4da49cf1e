import { checkObject } from "./check-input.js";
import { isDeadlineOver, isLiveSession, isReadyForbidden } from "./evidence.js";
import type { SandboxRecord, Session } from "./record.js";
import { enter, unchanged, type Transition } from "./transition.js";

/**
 * What a connect or disconnect of the supervisor makes of a record.
 *
 * A live session can only come from a running workload, so it makes a sandbox that is on its way Ready without waiting
 * for the backend; losing it demotes a Ready sandbox and fails nothing. A late session revives neither a stop nor a
 * result nor an expired deadline, and during a restart the supervisor of the old run does not complete the new one.
 *
 * Rules after NVIDIA/OpenShell's session handling.
 *
 * @param now - Epoch milliseconds. Default: the record's `since`.
 *
 * @example
 * ```ts
 * import { applySession } from "slipway/phase";
 *
 * const record = { phase: "Starting", desired: "running", since: 0 } as const;
 * applySession(record, { connected: true, instanceId: "i-2" }, Date.now()).record.phase; // => "Ready"
 * ```
 *
 * @public
 */
export function applySession(record: SandboxRecord, session: Session, now?: number): Transition {
  checkObject("record", record);
  checkObject("session", session);
  const at = now ?? record.since;
  return session.connected ? connect(record, session, at) : disconnect(record, session, at);
}

function connect(record: SandboxRecord, session: Session, now: number): Transition {
  const { phase } = record;
  if (phase !== "Provisioning" && phase !== "Starting" && phase !== "Ready" && phase !== "Unknown")
    return unchanged(record, "phase");
  if (record.desired !== "running") return unchanged(record, "not-desired");
  // A Ready sandbox takes the newest supervisor: the one before is superseded.
  if (phase !== "Ready" && !isLiveSession(record, session) && !isFirstContact(record))
    return unchanged(record, "other-run");
  if (phase !== "Ready" && isDeadlineOver(record, now)) return unchanged(record, "expired");
  if (isReadyForbidden(record, now)) return unchanged(record, "not-admitted");
  const instanceId = session.instanceId ?? record.expectedInstanceId ?? record.instanceId ?? null;
  if (phase === "Ready" && instanceId === (record.instanceId ?? null)) return unchanged(record);
  return {
    record: {
      ...enter(record, "Ready", "DependenciesReady", "The supervisor of this run is connected.", now),
      instanceId,
      expectedInstanceId: null,
      exitCode: null,
      finishedAt: null,
    },
    changed: true,
    refused: null,
  };
}

/**
 * Before the first readiness no run is fixed unless the gateway gave it an id: any supervisor that authenticated is
 * this sandbox's, also after a gateway restart (NVIDIA/OpenShell#3546).
 */
function isFirstContact(record: SandboxRecord): boolean {
  return record.phase !== "Starting" && (record.expectedInstanceId ?? null) === null;
}

function disconnect(record: SandboxRecord, session: Session, now: number): Transition {
  if (record.phase !== "Ready") return unchanged(record, "phase");
  const gone = session.instanceId ?? null;
  if (gone !== null && (record.instanceId ?? null) !== null && gone !== record.instanceId)
    return unchanged(record, "superseded");
  return {
    record: enter(record, "Provisioning", "DependenciesNotReady", "The supervisor is not connected.", now),
    changed: true,
    refused: null,
  };
}
