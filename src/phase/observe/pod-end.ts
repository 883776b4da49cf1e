import type { ObservationDraft } from "../observation.js";
import { exitCause } from "./exit-code.js";
import { fail } from "./failure.js";
import { dropOtherRun, isEarlierRun, isOwnStop, isCertainRun, type ObserveOptions } from "./options.js";
import type { PodContainer } from "./pod-containers.js";
import { disruptionCause, isPlaceholderExit, podCause } from "./pod-reasons.js";
import { KUBERNETES_PRECISION_MS, type PodView } from "./pod-view.js";

/** The facts of a pod that has ended, unless its end is the previous run's. */
export function endedFacts(draft: ObservationDraft, view: PodView, options: ObserveOptions): void {
  const { main, failedInit } = view.containers;
  const ended = main?.state === "terminated" ? main : failedInit?.state === "terminated" ? failedInit : null;
  draft.running = false;
  draft.ready = false;
  draft.backendReason = view.reason ?? ended?.reason ?? null;
  if (isEarlierEnd(options, view, ended?.finishedAt ?? null, draft.instanceId)) {
    dropOtherRun(draft);
    return;
  }
  draft.completed = true;
  draft.finishedAt = ended?.finishedAt ?? null;
  draft.exitCode = ended === null || isPlaceholderExit(ended.word) ? null : ended.exitCode;
  fail(draft, endCause(view, ended, isOwnStop(options)));
  const byItself = draft.failureReason === null && view.phase !== "failed";
  draft.endedBy = draft.exitCode === 0 || (draft.exitCode === null && byItself) ? "guest" : "unknown";
}

/**
 * Where the kubelet gives no time for the end, as for a pod that was evicted or refused, it was no later than the last
 * change that the pod shows. That is no more than a guess, so that it needs a run whose start is under way, and a pod
 * that does not say that it is of that run.
 */
function isEarlierEnd(
  options: ObserveOptions,
  view: PodView,
  finishedAt: number | null,
  instanceId: string | null,
): boolean {
  if (finishedAt !== null) return isEarlierRun(options, finishedAt, KUBERNETES_PRECISION_MS);
  if (isCertainRun(options, instanceId)) return false;
  return isEarlierRun(options, view.changedBy, KUBERNETES_PRECISION_MS);
}

/** Why a finished pod ended, most specific first: the pod's own reason, a disruption, the container, its code. */
function endCause(view: PodView, ended: PodContainer | null, ownStop: boolean): string | null {
  const byPod = view.reason === null ? null : podCause(view.reason.toLowerCase());
  if (view.phase !== "succeeded" && byPod !== null) return byPod;
  if (ended?.exitCode === 0 && !isPlaceholderExit(ended.word)) return null;
  if (view.phase === "succeeded" && ended === null) return null;
  if (view.disruption !== null) {
    const byDisruption = disruptionCause(view.disruption.word);
    if (byDisruption !== null) return byDisruption;
  }
  if (ended === null)
    return view.containers.statuses === 0 && view.reason !== null ? "AdmissionRejected" : null;
  if (ended === view.containers.failedInit) return "InitFailed";
  return containerCause(ended, ownStop);
}

function containerCause(ended: PodContainer, ownStop: boolean): string | null {
  switch (ended.word) {
    case "oomkilled":
      return "OutOfMemory";
    case "starterror":
    case "containercannotrun":
      return "ContainerStartFailed";
    case "unknown":
      // The runtime has lost the task, as after a reboot of the node (kubernetes/kubernetes#126650).
      return ownStop ? null : "NodeShutdown";
    case "containerstatusunknown":
      return ownStop ? null : "Killed";
    case "deadlineexceeded":
      return "DeadlineExceeded";
    default:
      return ownStop || ended.exitCode === null ? null : exitCause(ended.exitCode);
  }
}
