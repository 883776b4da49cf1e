import {
  current,
  findCondition,
  isTrue,
  lastTransition,
  type BackendCondition,
} from "./backend-conditions.js";
import { instantOf } from "./instant.js";
import { at, member, textOf, wordOf, type JsonObject } from "./json.js";
import { podContainers, type PodContainers } from "./pod-containers.js";

/** Kubernetes rounds its timestamps to seconds. */
export const KUBERNETES_PRECISION_MS = 1000;

/** What a cluster's clock may be behind the one by which a start was asked for. */
export const CLOCK_SKEW_MS = 5000;

/** What a pod says, read for deciding. */
export interface PodView {
  readonly phase: string;
  /** Pod-level reason as spelled. */
  readonly reason: string | null;
  /** Pod-level text, for people. */
  readonly message: string | null;
  readonly terminating: boolean;
  readonly deletionAt: number | null;
  /** The latest that it can have been made, by a clock that may be behind; `null` when it does not say. */
  readonly madeBy: number | null;
  /** The latest of its making and of all its conditions; `null` when it shows none. */
  readonly changedBy: number | null;
  readonly restartPolicy: string;
  readonly containers: PodContainers;
  readonly ready: BackendCondition | null;
  readonly scheduled: BackendCondition | null;
  readonly disruption: BackendCondition | null;
}

export function podView(pod: JsonObject): PodView {
  const status = member(pod, "status");
  const conditions = member(status, "conditions");
  const deletion = textOf(at(pod, "metadata", "deletionTimestamp"));
  const disruption = findCondition(conditions, "disruptiontarget", null);
  const createdAt = instantOf(at(pod, "metadata", "creationTimestamp"));
  const madeBy = createdAt === null ? null : createdAt + CLOCK_SKEW_MS;
  return {
    phase: wordOf(member(status, "phase")),
    reason: textOf(member(status, "reason")),
    message: textOf(member(status, "message")),
    terminating: deletion !== null,
    deletionAt: instantOf(deletion),
    madeBy,
    changedBy: Math.max(madeBy ?? 0, lastTransition(conditions) ?? 0) || null,
    restartPolicy: wordOf(at(pod, "spec", "restartPolicy")),
    containers: podContainers(pod),
    ready: current(findCondition(conditions, "ready", null)),
    scheduled: current(findCondition(conditions, "podscheduled", null)),
    disruption: isTrue(disruption) ? current(disruption) : null,
  };
}
