import { messageWith } from "./backend-message.js";
import { present, type Observation, type ObservationDraft } from "../observation.js";
import { conditionsOf } from "./backend-conditions.js";
import { fail } from "./failure.js";
import { at, integerOf, member, textOf, wordOf, type JsonObject } from "./json.js";
import {
  dropOtherRun,
  instanceKeyOf,
  isEarlierRun,
  isCertainRun,
  isForeignInstance,
  isRefusal,
  observedAtOf,
  withoutObject,
  type ObserveOptions,
} from "./options.js";
import { isOfKind, notTheObject, oneObject, type WantedObject } from "./one-object.js";
import type { PodContainer } from "./pod-containers.js";
import { isNodeSilence, waitingCause } from "./pod-reasons.js";
import { endedFacts } from "./pod-end.js";
import { KUBERNETES_PRECISION_MS, podView, type PodView } from "./pod-view.js";

/**
 * A core/v1 Pod, or what the request failed with.
 *
 * @public
 */
export interface PodInput {
  /** The pod as parsed JSON; `null` or absent with an `error`. */
  readonly pod: unknown;
  /** What the request failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

const POD: WantedObject = {
  said: "pod must be one object of kind Pod",
  isOne: (object) => isOfKind(object, "Pod"),
};

/** A deletion that is overdue by this much, with containers still shown as running, is a kubelet that does not answer. */
const OVERDUE_MS = 300_000;

/**
 * The facts in a Pod. Total, and no message is parsed.
 *
 * The main container is the one annotated as default, else the first of the specification. Container states beat the
 * phase word, which says Running for a pod whose container crash-loops; `lastState` is history. A pod that is being
 * deleted is a run being stopped, not an object being removed: the sandbox outlives its pods. A list of one pod is that
 * pod; anything that is no pod is no observation, with what was expected in `message`.
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
  const given = member(input, "pod");
  const pod = oneObject(given, POD);
  if (typeof pod === "string")
    return isRefusal(given)
      ? withoutObject(given, options)
      : notTheObject(given, pod, member(input, "error"), options);
  return podFacts(pod, options);
}

/** @internal */
export function podFacts(pod: JsonObject, options: ObserveOptions): ObservationDraft {
  const view = podView(pod);
  const draft = present(observedAtOf(options));
  draft.instanceId = instanceIdOf(pod, options);
  draft.generation = integerOf(at(pod, "metadata", "generation"));
  draft.conditions = conditionsOf(at(pod, "status", "conditions"));
  draft.terminating = view.terminating;
  draft.ready = readyOf(view);
  draft.readiness = view.ready === null || view.ready.status === "unknown" ? "unreadable" : "signal";
  if (isFinished(view)) endedFacts(draft, view, options);
  else if (isNodeLost(view, draft.observedAt)) nodeLost(draft, view);
  else live(draft, view);
  draft.message = messageOf(draft.backendReason, view);
  if (isForeignInstance(options, draft.instanceId) || isPredecessor(view, draft.instanceId, options))
    dropOtherRun(draft);
  return draft;
}

function messageOf(word: string | null, view: PodView): string | null {
  const { main, failedInit } = view.containers;
  return messageWith(word, [view, main, failedInit, view.disruption, view.ready, view.scheduled]);
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

/**
 * A pod that is going away and was made before this start was asked for is the previous run's. A run that is usable may
 * live in an older one: in one of a warm pool, or after its start was asked for again.
 */
function isPredecessor(
  { terminating, madeBy }: PodView,
  instanceId: string | null,
  options: ObserveOptions,
): boolean {
  if (!terminating || isCertainRun(options, instanceId)) return false;
  return isEarlierRun(options, madeBy, KUBERNETES_PRECISION_MS);
}

function isFinished({ phase, restartPolicy, containers: { main } }: PodView): boolean {
  if (phase === "failed" || phase === "succeeded") return true;
  if (main?.state !== "terminated" || phase === "unknown") return false;
  return restartPolicy === "never" || (restartPolicy === "onfailure" && main.exitCode === 0);
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
  fail(draft, "NodeLost", "transient");
  const silence = view.ready !== null && isNodeSilence(view.ready.word) ? view.ready.reason : null;
  draft.backendReason = view.reason ?? view.disruption?.reason ?? silence;
}

function live(draft: ObservationDraft, view: PodView): void {
  const { main } = view.containers;
  draft.running = runningOf(view, main);
  draft.backendReason = main?.state === "waiting" || main?.state === "terminated" ? main.reason : null;
  if (draft.running !== true) blame(draft, view);
  else if (isFailingProbe(view)) fail(draft, "HealthCheckFailed", "transient");
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
    fail(draft, main.exitCode === 0 ? null : "CrashLoop", "transient");
    return;
  }
  if (view.scheduled?.status === "false") {
    draft.backendReason = textOf(view.scheduled.reason);
    if (view.scheduled.word === "schedulinggated") return;
    draft.failureReason = view.scheduled.word === "unschedulable" ? "Unschedulable" : null;
    draft.failureClass = "transient";
  }
}
