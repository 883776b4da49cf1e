import { present, type Observation, type ObservationDraft } from "../observation.js";
import { conditionsOf, current, findCondition, isTrue, type BackendCondition } from "./backend-conditions.js";
import { exitCause } from "./exit-code.js";
import { instantOf } from "./instant.js";
import { at, integerOf, member, objectOf, textOf, wordOf, type JsonObject } from "./json.js";
import {
  dropOtherRun,
  instanceKeyOf,
  isEarlierRun,
  isForeignInstance,
  isOwnStop,
  observedAtOf,
  withoutObject,
  type ObserveOptions,
} from "./options.js";
import { podContainers, type PodContainer, type PodContainers } from "./pod-containers.js";
import { disruptionCause, isNodeSilence, isPlaceholderExit, podCause, waitingCause } from "./pod-reasons.js";

/**
 * A core/v1 Pod, or what the request failed with.
 *
 * @public
 */
export interface PodInput {
  readonly pod: unknown;
  readonly error?: unknown;
}

/** Kubernetes rounds its timestamps to seconds. */
export const KUBERNETES_PRECISION_MS = 1000;

/** A deletion that is overdue by this much, with containers still shown as running, is a kubelet that does not answer. */
const OVERDUE_MS = 300_000;

/**
 * The facts in a Pod. Total, and no message is parsed.
 *
 * The main container is the one annotated as default, else the first of the specification. Container states beat the
 * phase word, which says Running for a pod whose container crash-loops; `lastState` is history. A pod that is being
 * deleted is a run being stopped, not an object being removed: the sandbox outlives its pods.
 *
 * @example
 * ```ts
 * import { observePod } from "slipway/phase";
 *
 * observePod({ pod: { status: { phase: "Failed", reason: "OutOfcpu" } } }).failureReason; // => "AdmissionRejected"
 * ```
 *
 * @public
 */
export function observePod(input: PodInput, options: ObserveOptions = {}): Observation {
  const pod = objectOf(member(input, "pod"));
  return pod === null ? withoutObject(member(input, "error"), options) : podFacts(pod, options);
}

/** What the rules of this file look at. */
interface PodView {
  readonly phase: string;
  /** Pod-level reason as spelled. */
  readonly reason: string | null;
  readonly terminating: boolean;
  readonly deletionAt: number | null;
  readonly restartPolicy: string;
  readonly containers: PodContainers;
  readonly ready: BackendCondition | null;
  readonly scheduled: BackendCondition | null;
  readonly disruption: BackendCondition | null;
}

/** @internal */
export function podFacts(pod: JsonObject, options: ObserveOptions): ObservationDraft {
  const view = viewOf(pod);
  const draft = present(observedAtOf(options));
  draft.instanceId = instanceIdOf(pod, options);
  draft.generation = integerOf(at(pod, "metadata", "generation"));
  draft.conditions = conditionsOf(at(pod, "status", "conditions"));
  draft.terminating = view.terminating;
  draft.ready = readyOf(view);
  draft.readiness = view.ready === null || view.ready.status === "unknown" ? "unreadable" : "signal";
  if (isFinished(view)) finished(draft, view, options);
  else if (isNodeLost(view, draft.observedAt)) nodeLost(draft, view);
  else live(draft, view);
  if (isForeignInstance(options, draft.instanceId) || isPredecessor(pod, view, options)) dropOtherRun(draft);
  return draft;
}

function viewOf(pod: JsonObject): PodView {
  const status = member(pod, "status");
  const conditions = member(status, "conditions");
  const deletion = at(pod, "metadata", "deletionTimestamp");
  const disruption = findCondition(conditions, "disruptiontarget", null);
  return {
    phase: wordOf(member(status, "phase")),
    reason: textOf(member(status, "reason")),
    terminating: deletion !== undefined && deletion !== null,
    deletionAt: instantOf(deletion),
    restartPolicy: wordOf(at(pod, "spec", "restartPolicy")),
    containers: podContainers(pod),
    ready: current(findCondition(conditions, "ready", null)),
    scheduled: current(findCondition(conditions, "podscheduled", null)),
    disruption: isTrue(disruption) ? current(disruption) : null,
  };
}

function instanceIdOf(pod: JsonObject, options: ObserveOptions): string | null {
  const key = instanceKeyOf(options);
  return textOf(at(pod, "metadata", "annotations", key)) ?? textOf(at(pod, "metadata", "labels", key));
}

function readyOf({ ready, terminating }: PodView): boolean | null {
  if (terminating) return false;
  if (ready === null || ready.status === "unknown") return null;
  return ready.status === "true";
}

/** A pod that is going away and was made before this start was asked for is the previous run's. */
function isPredecessor(pod: JsonObject, { terminating }: PodView, options: ObserveOptions): boolean {
  const createdAt = instantOf(at(pod, "metadata", "creationTimestamp"));
  return terminating && isEarlierRun(options, createdAt, KUBERNETES_PRECISION_MS);
}

function isFinished({ phase, restartPolicy, containers: { main } }: PodView): boolean {
  if (phase === "failed" || phase === "succeeded") return true;
  if (main?.state !== "terminated" || phase === "unknown") return false;
  return restartPolicy === "never" || (restartPolicy === "onfailure" && main.exitCode === 0);
}

function finished(draft: ObservationDraft, view: PodView, options: ObserveOptions): void {
  const { main, failedInit } = view.containers;
  const ended = main?.state === "terminated" ? main : failedInit?.state === "terminated" ? failedInit : null;
  draft.running = false;
  draft.ready = false;
  draft.backendReason = view.reason ?? ended?.reason ?? null;
  if (isEarlierRun(options, ended?.finishedAt ?? null, KUBERNETES_PRECISION_MS)) {
    dropOtherRun(draft);
    return;
  }
  draft.completed = true;
  draft.finishedAt = ended?.finishedAt ?? null;
  draft.exitCode = ended === null || isPlaceholderExit(ended.word) ? null : ended.exitCode;
  draft.failureReason = endCause(view, ended, isOwnStop(options));
  draft.failureClass = draft.failureReason === null ? null : "terminal";
  const byItself = draft.failureReason === null && view.phase !== "failed";
  draft.endedBy = draft.exitCode === 0 || (draft.exitCode === null && byItself) ? "guest" : "unknown";
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

function isNodeLost(view: PodView, observedAt: number | null): boolean {
  if (view.phase === "unknown" || wordOf(view.reason) === "nodelost") return true;
  if (view.ready !== null && view.ready.status !== "true" && isNodeSilence(view.ready.word)) return true;
  if (!view.terminating || view.containers.main?.state !== "running") return false;
  if (view.disruption?.word === "deletionbytaintmanager" || view.disruption?.word === "deletionbypodgc")
    return true;
  return observedAt !== null && view.deletionAt !== null && observedAt - view.deletionAt > OVERDUE_MS;
}

function nodeLost(draft: ObservationDraft, view: PodView): void {
  draft.running = null;
  draft.failureReason = "NodeLost";
  draft.failureClass = "transient";
  const silence = view.ready !== null && isNodeSilence(view.ready.word) ? view.ready.reason : null;
  draft.backendReason = view.reason ?? view.disruption?.reason ?? silence;
}

function live(draft: ObservationDraft, view: PodView): void {
  const { main } = view.containers;
  draft.running = runningOf(view, main);
  draft.backendReason = main?.state === "waiting" || main?.state === "terminated" ? main.reason : null;
  if (draft.running !== true) blame(draft, view);
  else if (isFailingProbe(view)) {
    draft.failureReason = "HealthCheckFailed";
    draft.failureClass = "transient";
  }
  if (draft.running === true && !view.terminating && view.ready?.status === "false")
    draft.backendReason = textOf(view.ready.reason);
}

function runningOf(
  { phase, ready, containers: { statuses } }: PodView,
  main: PodContainer | null,
): boolean | null {
  if (main !== null && main.state !== "unknown") return main.state === "running";
  if (phase === "" || phase === "pending") return false;
  if (phase !== "running") return null;
  return ready?.status === "true" || statuses === 0 ? true : null;
}

/** A main container that has started and is not ready; before it has started there is no probe to fail. */
function isFailingProbe({ ready, terminating, containers: { main } }: PodView): boolean {
  return !terminating && ready?.status === "false" && main !== null && main.started && !main.ready;
}

/** Why the main container does not run: an init container, its own waiting word, the pause between two runs, or no node. */
function blame(draft: ObservationDraft, view: PodView): void {
  const { main, failedInit } = view.containers;
  if (failedInit !== null) {
    const cause = failedInit.state === "waiting" ? waitingCause(failedInit.word) : null;
    const known = cause !== null && cause !== "unknown" && cause.reason !== "CrashLoop" ? cause : null;
    draft.failureReason = known?.reason ?? (cause === "unknown" ? null : "InitFailed");
    draft.failureClass = known?.failureClass ?? "transient";
    draft.backendReason = failedInit.reason;
    return;
  }
  if (main?.state === "waiting") {
    const cause = waitingCause(main.word);
    draft.failureReason = cause === null || cause === "unknown" ? null : cause.reason;
    draft.failureClass = cause === null ? null : cause === "unknown" ? "transient" : cause.failureClass;
    return;
  }
  if (main?.state === "terminated") {
    draft.failureReason = main.exitCode === 0 ? null : "CrashLoop";
    draft.failureClass = main.exitCode === 0 ? null : "transient";
    return;
  }
  if (view.scheduled?.status === "false") {
    draft.backendReason = textOf(view.scheduled.reason);
    if (view.scheduled.word === "schedulinggated") return;
    draft.failureReason = view.scheduled.word === "unschedulable" ? "Unschedulable" : null;
    draft.failureClass = "transient";
  }
}
