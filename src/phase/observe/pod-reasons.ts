/** What a reason word means: the catalog's word, and whether waiting can help. */
export interface Cause {
  readonly reason: string;
  readonly failureClass: "transient" | "terminal";
}

function transient(reason: string): Cause {
  return { reason, failureClass: "transient" };
}

function terminal(reason: string): Cause {
  return { reason, failureClass: "terminal" };
}

/**
 * Waiting words of a container, in lower case. `null` is ordinary waiting. Image trouble is transient: backing off is a
 * timer, not a verdict, and a registry that answers 429 or 5xx recovers (Shopify/krane#124 and #477 tried failing fast
 * and took it back). Only a reference that can never resolve is terminal.
 *
 * Source: kubelet's waiting reasons.
 */
const waitingWords: ReadonlyMap<string, Cause | null> = new Map([
  ["containercreating", null],
  ["podinitializing", null],
  ["errimagepull", transient("ImagePullFailed")],
  ["imagepullbackoff", transient("ImagePullFailed")],
  ["imageinspecterror", transient("ImagePullFailed")],
  ["registryunavailable", transient("ImagePullFailed")],
  ["errimageneverpull", transient("ImagePullFailed")],
  ["signaturevalidationfailed", transient("ImagePullFailed")],
  ["invalidimagename", terminal("ImageInvalid")],
  ["createcontainerconfigerror", transient("ContainerConfigInvalid")],
  ["createcontainererror", transient("ContainerStartFailed")],
  ["runcontainererror", transient("ContainerStartFailed")],
  ["createpodsandboxerror", transient("ContainerStartFailed")],
  ["configpodsandboxerror", transient("ContainerStartFailed")],
  ["poststarthookerror", transient("ContainerStartFailed")],
  ["prestarthookerror", transient("ContainerStartFailed")],
  ["crashloopbackoff", transient("CrashLoop")],
]);

/** Sync errors that the kubelet names without any meaning for the phase. */
const NO_EFFECT = new Set([
  "killcontainererror",
  "killpodsandboxerror",
  "resizepodinplaceerror",
  "removecontainererror",
]);

/** What a waiting word means; a word that is not known leaves the cause open and waiting possible. */
export function waitingCause(word: string): Cause | "unknown" | null {
  if (word === "" || NO_EFFECT.has(word)) return null;
  const cause = waitingWords.get(word);
  return cause === undefined ? "unknown" : cause;
}

const podWords: ReadonlyMap<string, string> = new Map([
  ["evicted", "Evicted"],
  ["preempting", "Preempted"],
  ["preempted", "Preempted"],
  ["terminated", "NodeShutdown"],
  ["shutdown", "NodeShutdown"],
  ["nodeshutdown", "NodeShutdown"],
  ["deadlineexceeded", "DeadlineExceeded"],
  ["nodeaffinity", "AdmissionRejected"],
  ["unexpectedadmissionerror", "AdmissionRejected"],
  ["nodelost", "NodeLost"],
]);

/**
 * What a pod-level reason means for a pod that failed. `Terminated` and `Shutdown` changed places across Kubernetes
 * releases and both mean the node went down; `OutOf…` is built from a resource name, so only its beginning is known.
 */
export function podCause(word: string): string | null {
  return podWords.get(word) ?? (word.startsWith("outof") ? "AdmissionRejected" : null);
}

const disruptionWords: ReadonlyMap<string, string> = new Map([
  ["evictionbyevictionapi", "Evicted"],
  ["preemptionbyscheduler", "Preempted"],
  ["deletionbytaintmanager", "NodeLost"],
  ["deletionbypodgc", "NodeLost"],
  ["terminationbykubelet", "Evicted"],
]);

/** What a `DisruptionTarget` condition says of a run that failed. */
export function disruptionCause(word: string): string | null {
  return disruptionWords.get(word) ?? null;
}

/** `Ready` reasons by which the control plane says that the node does not report. */
export function isNodeSilence(word: string): boolean {
  return (
    word === "nodenotready" ||
    word === "nodestatusunknown" ||
    word === "nodelost" ||
    word === "nodestatusneverupdated"
  );
}

/** Terminated words whose exit code the kubelet or the runtime made up. */
export function isPlaceholderExit(word: string): boolean {
  return word === "containerstatusunknown" || word === "unknown";
}
