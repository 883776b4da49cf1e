import type { Observation } from "slipway";
import { isAtRest, isComingUp } from "../record/phase.js";
import type { SandboxRecord } from "../record/record.js";

/** The latest look at a sandbox by this process. */
export interface Seen {
  readonly observation: Observation;
  /** The instance that the record had when it was looked for, `null` for none. */
  readonly instanceId: string | null;
  /** When that instance had been started, as the record had it before the look began. Absent: not known. */
  readonly launchedAt?: number | null | undefined;
}

/**
 * Whether a look says nothing of a record's run, because it may have begun before that was started: whoever looked was
 * held up, and the record is newer. Told by what the record said before the look, where that is known, and else by the
 * times of both. What it shows of the run itself was there, however early.
 */
export function isOfBefore(
  { instance }: Pick<SandboxRecord, "instance">,
  { observation, launchedAt }: Pick<Seen, "observation" | "launchedAt">,
): boolean {
  if (instance === null || instance.launchedAt === null) return false;
  const { completed, instanceId, observedAt, running } = observation;
  if (instanceId === instance.id && (running === true || completed === true)) return false;
  if (launchedAt !== undefined) return launchedAt !== instance.launchedAt;
  return observedAt !== null && observedAt < instance.launchedAt;
}

/** Whether an attempt waits for a driver to start its supervisor, or for one that has begun to. */
export function isLaunchOutstanding({ phase, desired, deadline, instance }: SandboxRecord): boolean {
  return (
    isComingUp(phase) &&
    desired === "running" &&
    deadline?.status === "active" &&
    (instance === null || instance.launchedAt === null)
  );
}

/** Whether the gateway is about to start something: what the backend shows until then is of the time before. */
export function isStartOutstanding(record: SandboxRecord): boolean {
  const waits = record.restartAt !== null || (record.startPending && isAtRest(record.phase));
  return isLaunchOutstanding(record) || waits;
}

/**
 * Whether the run that a driver had started has ended by itself, or its object is gone. What is suspended was told to
 * be: that is no loss.
 */
export function isLostRun(record: SandboxRecord, seen: Seen): boolean {
  const { phase, desired, instance } = record;
  const { observation, instanceId } = seen;
  const runs = isComingUp(phase) || phase === "Ready" || phase === "Unknown";
  if (!runs || desired !== "running" || instance === null || instance.launchedAt === null) return false;
  if (instanceId !== instance.id || observation.stale || observation.running !== false) return false;
  if (isOfBefore(record, seen)) return false;
  return observation.terminating !== true && (observation.completed === true || observation.exists === false);
}

/**
 * Whether what was started for an attempt goes, told by somebody else, before it was admitted: a drained node, a person.
 * How it ends says nothing of the attempt, and what takes its place goes on with it.
 */
export function isGoing(record: SandboxRecord, { observation, instanceId }: Seen): boolean {
  const { phase, desired, deadline, instance, activatedRun } = record;
  const waits = isComingUp(phase) && desired === "running" && deadline?.status === "active";
  if (!waits || activatedRun !== null || instanceId !== (instance?.id ?? null)) return false;
  return observation.terminating === true && observation.deleting !== true && !observation.stale;
}

/** Whether something runs for a sandbox that is at rest. */
export function isStray(record: SandboxRecord, { observation, instanceId }: Seen): boolean {
  const told = record.phase === "Stopped" && record.desired === "stopped";
  return told && instanceId === null && observation.running === true && !observation.stale;
}

/**
 * An observation with what only the gateway knows: while a driver's work is not done, what is not there yet is not
 * missing.
 */
export function withOwnKnowledge(record: SandboxRecord, observation: Observation): Observation {
  return isLaunchOutstanding(record) ? { ...observation, bootstrapping: true } : observation;
}
