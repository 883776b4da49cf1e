import type { Observation } from "./observation.js";
import type { PhasePolicy, SandboxRecord, Session } from "./record.js";

/**
 * Everything that one decision looks at.
 *
 * @public
 */
export interface PhaseInput {
  /** What the gateway has stored. */
  readonly record: SandboxRecord;
  /** `null`: the look-up failed. */
  readonly observation: Observation | null;
  /** The supervisor's session; `null` or absent: none is known. */
  readonly session?: Session | null | undefined;
  /** The current instant, epoch milliseconds. */
  readonly now: number;
  /** What this gateway has decided once. Default: every field's own. */
  readonly policy?: PhasePolicy | undefined;
}

/**
 * Whether the session is alive and of the run that the record expects.
 *
 * While `Starting` without an id of its own, the stored id belongs to the previous run: a session with that id counts
 * only when no end of that run is recorded (an automatic restart needs a fresh supervisor).
 */
export function isLiveSession(record: SandboxRecord, session: Session | null | undefined): boolean {
  if (session?.connected !== true) return false;
  const id = session.instanceId ?? null;
  if (id === null) return true;
  const expected = record.expectedInstanceId ?? null;
  if (expected !== null) return id === expected;
  const known = record.instanceId ?? null;
  if (known === null) return true;
  if (record.phase !== "Starting") return id === known;
  return id !== known || typeof record.exitCode !== "number";
}

/** Delete was asked for, or the durable object was seen going away. */
export function isGoing({ record }: { readonly record: SandboxRecord }): boolean {
  return record.desired === "deleted" || record.phase === "Deleting" || record.phase === "Deleted";
}

/** Whether the observation was made after the record's last write and after the last start was accepted. */
export function isCurrent(record: SandboxRecord, observation: Observation): boolean {
  const { observedAt } = observation;
  if (typeof observedAt !== "number") return true;
  return (
    observedAt >= record.since &&
    observedAt >= (record.updatedAt ?? observedAt) &&
    observedAt >= (record.startRequestedAt ?? observedAt)
  );
}

/**
 * Whether the backend provably has nothing that runs or is about to: told to be suspended, nothing executing, and no
 * bootstrap under way. Unknown counts as "no", on every fact.
 *
 * Source: NVIDIA/OpenShell, a Provisioning record over `replicas: 0` and no pod.
 */
export function isEmptyBackend(record: SandboxRecord, observation: Observation): boolean {
  return (
    observation.suspended === true &&
    observation.running === false &&
    observation.bootstrapping === false &&
    observation.terminating !== true &&
    !observation.stale &&
    isCurrent(record, observation)
  );
}

/** Whether the stored deadline is over: expiry is a matter of (record, now), not of a timer that ran. */
export function isDeadlineOver(record: SandboxRecord, now: number): boolean {
  const at = record.deadline?.deadlineAt;
  return typeof at === "number" && now >= at;
}

/**
 * Whether the gateway itself forbids Ready: admission outstanding or refused, the deadline in an earlier phase, or the
 * deadline over before readiness came. What is Ready already has met its deadline.
 */
export function isReadyForbidden(record: SandboxRecord, now: number): boolean {
  return (
    record.admission === "pending" ||
    record.admission === "rejected" ||
    record.deadline?.lastPhase === false ||
    (record.phase !== "Ready" && isDeadlineOver(record, now))
  );
}

/** The last millisecond of an instant: one of a whole second is taken for that of a backend which counts in seconds. */
function latestOf(instant: number): number {
  return instant % 1000 === 0 ? instant + 999 : instant;
}

/**
 * Whether the end that is seen is known to be that of the start under way. What had ended by the time that the run
 * before did is that run's, whatever its instance is called; an instance id tells runs apart only where the run before
 * had another; else it must have ended after the start was asked for. What is not known is not its own.
 */
export function isOwnEnd(record: SandboxRecord, observation: Observation): boolean {
  const { completed, finishedAt, instanceId } = observation;
  if (completed !== true) return false;
  const previous = record.previousFinishedAt ?? null;
  if (finishedAt !== null && previous !== null && latestOf(finishedAt) <= previous) return false;
  const expected = record.expectedInstanceId ?? null;
  if (expected !== null && instanceId === expected && expected !== (record.instanceId ?? null)) return true;
  const requested = record.startRequestedAt ?? null;
  if (finishedAt === null || requested === null) return false;
  return finishedAt >= requested && (previous === null || finishedAt > previous);
}

/** Whether the gateway's own shutdown asked for the run to be stopped, and no gateway has come up since. */
export function isMarked({ shutdownStopAt }: SandboxRecord): boolean {
  return typeof shutdownStopAt === "number";
}

/** Whether an end at this instant, or one without a time, is what the gateway's own shutdown brought about. */
export function isShutdownEnd({ shutdownStopAt }: SandboxRecord, finishedAt: number | null): boolean {
  if (typeof shutdownStopAt !== "number") return false;
  return finishedAt === null || latestOf(finishedAt) >= shutdownStopAt;
}
