import { current, findCondition, isTrue, type BackendCondition } from "./backend-conditions.js";
import { instantOf } from "./instant.js";
import { at, member, textOf, wordOf, type JsonObject } from "./json.js";
import { podContainers, type PodContainers } from "./pod-containers.js";

/** Kubernetes rounds its timestamps to seconds. */
export const KUBERNETES_PRECISION_MS = 1000;

/** What a pod says, read for deciding. */
export interface PodView {
  readonly phase: string;
  /** Pod-level reason as spelled. */
  readonly reason: string | null;
  /** Pod-level text, for people. */
  readonly message: string | null;
  readonly terminating: boolean;
  readonly deletionAt: number | null;
  readonly createdAt: number | null;
  /** The latest that it shows of its making, its readiness and a disruption; `null` when it shows none. */
  readonly changedAt: number | null;
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
  const ready = current(findCondition(conditions, "ready", null));
  const createdAt = instantOf(at(pod, "metadata", "creationTimestamp"));
  return {
    phase: wordOf(member(status, "phase")),
    reason: textOf(member(status, "reason")),
    message: textOf(member(status, "message")),
    terminating: deletion !== null,
    deletionAt: instantOf(deletion),
    createdAt,
    changedAt: Math.max(createdAt ?? 0, ready?.at ?? 0, current(disruption)?.at ?? 0) || null,
    restartPolicy: wordOf(at(pod, "spec", "restartPolicy")),
    containers: podContainers(pod),
    ready,
    scheduled: current(findCondition(conditions, "podscheduled", null)),
    disruption: isTrue(disruption) ? current(disruption) : null,
  };
}
