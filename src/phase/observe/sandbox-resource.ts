import { messageWith } from "./backend-message.js";
import { present, type Observation, type ObservationDraft } from "../observation.js";
import { conditionsOf, type BackendCondition } from "./backend-conditions.js";
import { fail } from "./failure.js";
import { at, member, textOf } from "./json.js";
import { dropOtherRun, isForeignInstance, isRefusal, observedAtOf, withoutObject } from "./options.js";
import { isOfKind, notTheObject, oneObject, type WantedObject } from "./one-object.js";
import { sandboxPods } from "./sandbox-pods.js";
import { sandboxView, type SandboxResourceOptions, type SandboxView } from "./sandbox-view.js";

/**
 * An agent-sandbox custom resource with the list of its pods, or what the request failed with.
 *
 * @public
 */
export interface SandboxResourceInput {
  /** The Sandbox object, v1alpha1 or v1beta1. */
  readonly sandbox: unknown;
  /** The PodList (or the array of pods) of the sandbox. `null`: not asked or refused, which is not an empty list. */
  readonly pods: unknown;
  /** What the request failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

const SANDBOX: WantedObject = {
  said: "sandbox must be one object of kind Sandbox",
  isOne: (object) => isOfKind(object, "Sandbox"),
};

/**
 * The facts in an agent-sandbox custom resource and its pods, for every controller release from 0.1 to 0.5.6. Total,
 * and no message is parsed.
 *
 * Intent is read from the specification and the workload from the pods that the sandbox controls; conditions of an
 * older generation, twins that contradict each other and the saved v1alpha1 annotation are no evidence. Controllers up
 * to 0.4.6 say Ready at zero replicas with no pod, and 0.5.0 to 0.5.3 never take Suspended back: neither word stands
 * against the specification and the pods. A list of one Sandbox is that one; anything that is none is no observation,
 * with what was expected in `message`.
 *
 * @example
 * ```ts
 * import { observeSandboxResource } from "slipway/phase";
 *
 * const sandbox = { metadata: { uid: "u" }, spec: { replicas: 0 } };
 * observeSandboxResource({ sandbox, pods: { items: [] } }).suspended; // => true
 * observeSandboxResource({ sandbox, pods: null }).suspended; // => false
 * ```
 *
 * @public
 */
export function observeSandboxResource(
  input: SandboxResourceInput,
  options: SandboxResourceOptions = {},
): Observation {
  const given = member(input, "sandbox");
  const sandbox = oneObject(given, SANDBOX);
  if (typeof sandbox === "string")
    return isRefusal(given)
      ? withoutObject(given, options)
      : notTheObject(given, sandbox, member(input, "error"), options);
  const pods = sandboxPods(sandbox, member(input, "pods"), options);
  const view = sandboxView(sandbox, pods, options);
  const draft = present(observedAtOf(options));
  draft.generation = view.generation;
  draft.instanceId = view.instanceId ?? pods.pod?.instanceId ?? null;
  draft.conditions = conditionsOf(at(sandbox, "status", "conditions"));
  draft.bootstrapping = view.bootstrapping;
  workload(draft, view);
  readiness(draft, view);
  draft.backendReason = reasonOf(view);
  failure(draft, view);
  draft.message = messageOf(draft.backendReason, view);
  draft.behind = isBehind(view, draft);
  return isForeignInstance(options, view.instanceId) ? dropOtherRun(draft) : draft;
}

function workload(draft: ObservationDraft, view: SandboxView): void {
  const { pods, suspend, deleting } = view;
  const { pod } = pods;
  const proven = pods.listed === "all" && pod === null;
  draft.workload = pod !== null ? "present" : proven ? "absent" : "unknown";
  draft.running = pod !== null ? pod.running : proven ? false : null;
  draft.completed = pod?.completed ?? false;
  draft.exitCode = pod?.exitCode ?? null;
  draft.endedBy = pod?.endedBy ?? "unknown";
  draft.finishedAt = pod?.finishedAt ?? null;
  draft.stale = pod?.stale ?? false;
  draft.deleting = deleting;
  const blocked = view.suspended?.status === "false" && view.suspended.word === "podnotowned";
  draft.suspended = suspend === null ? null : suspend && proven && !blocked && !deleting;
  const leaving = suspend === true || view.ready?.word === "sandboxexpired";
  draft.terminating = deleting || pod?.terminating === true || (leaving && !proven);
  if (pod === null && finishedWithoutPod(view)) {
    draft.completed = true;
    draft.running = false;
    draft.endedBy = view.finished?.word === "podsucceeded" ? "guest" : "unknown";
  }
}

/** The controller says that the run is over, and there is no pod that says otherwise. */
function finishedWithoutPod({ finished, suspend }: SandboxView): boolean {
  return suspend === false && finished !== null;
}

function readiness(draft: ObservationDraft, view: SandboxView): void {
  const { ready, readyFinding, suspend, pods } = view;
  draft.readiness = "signal";
  if (suspend === true) {
    draft.ready = false;
    return;
  }
  if (readyFinding === "contradiction") {
    draft.readiness = "unreadable";
    return;
  }
  const podReady = pods.pod === null ? null : pods.pod.ready;
  if (ready === null || ready.status === "unknown") {
    draft.ready = readyFinding === null || ready === null ? podReady : null;
    if (draft.ready === null) draft.readiness = "unreadable";
    return;
  }
  // A controller that fails gives no verdict on the workload.
  if (ready.word === "reconcilererror") draft.readiness = "unreadable";
  if (ready.status === "false" || draft.terminating === true) draft.ready = false;
  else if (draft.workload === "absent" || draft.running === false) draft.ready = false;
  else draft.ready = pods.pod === null ? true : podReady !== false;
}

/** The word that decided: the stop's while a stop is on, else the end's, else readiness, else the pod's. */
function reasonOf({ suspend, suspended, finished, ready, readyFinding, pods }: SandboxView): string | null {
  if (suspend === true && suspended !== null) return textOf(suspended.reason);
  if (suspend !== true && finished !== null) return textOf(finished.reason);
  if (ready !== null) return textOf(ready.reason);
  if (readyFinding === "contradiction") return null;
  if (readyFinding !== null && suspend === true) return textOf(readyFinding.reason);
  return pods.pod?.backendReason ?? (readyFinding === null ? null : textOf(readyFinding.reason));
}

/** Of the resource's own words the text that came with the one that decided, else what the pod says of itself. */
function messageOf(word: string | null, view: SandboxView): string | null {
  const { ready, suspended, finished, scheduled, pods } = view;
  const own = messageWith(word, [suspended, finished, ready, scheduled]);
  return own ?? (pods.pod?.backendReason === word ? pods.pod.message : null);
}

function failure(draft: ObservationDraft, view: SandboxView): void {
  const { pods, ready, suspended, suspend } = view;
  const conflict = pods.conflict && suspend !== true;
  if (conflict || ready?.word === "multiplepods" || isBlocked(suspend, suspended)) {
    fail(draft, "OwnershipConflict");
    if (conflict) draft.ready = false;
    return;
  }
  // Where nobody knows whether it still executes, that comes first.
  const isLost = draft.running === null && pods.pod?.failureReason === "NodeLost";
  if (!isLost && ready?.status === "false" && ready.word === "sandboxexpired") {
    fail(draft, "Expired");
    return;
  }
  if (pods.pod !== null && pods.pod.failureReason !== null) {
    fail(draft, pods.pod.failureReason, pods.pod.failureClass);
    return;
  }
  if (draft.completed === true) {
    if (pods.pod === null && draft.endedBy !== "guest") fail(draft, "ProcessExited");
    return;
  }
  if (ready?.status === "false" && ready.word === "reconcilererror") {
    fail(draft, "BackendError", "transient");
    return;
  }
  if (suspend === true) return;
  if (view.scheduled?.status === "false" && view.scheduled.word === "unschedulable") {
    fail(draft, "Unschedulable", "transient");
    return;
  }
  if (pods.pod !== null && pods.pod.failureClass !== null) {
    draft.failureClass = pods.pod.failureClass;
    return;
  }
  const isUnexplained = ready?.status === "false" && !ORDINARY.has(ready.word);
  if (isUnexplained || view.readyFinding === "contradiction") draft.failureClass = "transient";
}

function isBlocked(suspend: boolean | null, suspended: BackendCondition | null): boolean {
  return suspend === true && suspended?.status === "false" && suspended.word === "podnotowned";
}

/** Ready=False words that tell of ordinary waiting, stopping or an end; any other leaves the cause open. */
const ORDINARY: ReadonlySet<string> = new Set([
  "",
  "dependenciesnotready",
  "sandboxsuspended",
  "podsucceeded",
  "podfailed",
  "podnotscheduled",
]);

/** Conditions of an older generation or in contradiction were left out, and nothing current made up for them. */
function isBehind(
  { readyFinding, suspendedFinding, suspend }: SandboxView,
  draft: ObservationDraft,
): boolean {
  if (readyFinding === "contradiction" || suspendedFinding === "contradiction") return true;
  if (readyFinding?.stale === true) return true;
  return suspend === false && suspendedFinding?.stale === true && draft.ready !== true;
}
