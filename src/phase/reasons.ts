import { type ConditionCause, sanitizeReason } from "../conditions/index.js";
import type { Observation } from "./observation.js";

/** Deadline expiry, by the deadline's phase (OpenShell's provisioning deadline). */
export const PROVISIONING_TIMED_OUT = "ProvisioningTimedOut";
export const IMAGE_PREPARATION_TIMED_OUT = "ImagePreparationTimedOut";

export const ISOLATION_BACKEND_MISMATCH = "IsolationBackendMismatch";
export const COMPUTE_RESOURCE_MISSING = "ComputeResourceMissing";
export const BACKEND_RESOURCE_MISSING = "BackendResourceMissing";
export const MAIN_PROCESS_FAILED = "MainProcessFailed";
export const MAIN_PROCESS_COMPLETED = "MainProcessCompleted";

/** An expired attempt: kept for its owner to read, and blocked until its cleanup is done. */
export const timeoutReasons: ReadonlySet<string> = new Set([
  PROVISIONING_TIMED_OUT,
  IMAGE_PREPARATION_TIMED_OUT,
]);

/**
 * Failures that mean the run is over and its workspace is kept, so that start may open a new run: the state on disk is
 * intact whoever ended the process. Reasons that only a driver's own word stands for are not among them.
 */
export const restartableReasons: ReadonlySet<string> = new Set([
  MAIN_PROCESS_FAILED,
  "ProcessExited",
  "Killed",
  "OutOfMemory",
  "Evicted",
  "Preempted",
  "NodeShutdown",
  "AdmissionRejected",
  "DeadlineExceeded",
  "VmmExited",
  "VmmInternalError",
  "VmmStartFailed",
  "GuestPanicked",
  "WatchdogFired",
  "ContainerStartFailed",
  "InitFailed",
]);

/**
 * What a driver said of an exit of which it knows no more: the supervisor's report replaces it. What names a cause (a
 * lack of memory, a monitor that ended) is more than a report of a code, and stays.
 */
export const provisionalExitReasons: ReadonlySet<string> = new Set(["ContainerExited", "ProcessExited"]);

/** How a run ends by itself or from outside. With an exit code it is a result of the run. */
export const exitReasons: ReadonlySet<string> = new Set([
  ...provisionalExitReasons,
  "ContainerStopped",
  "ContainerRuntimeRestart",
  "Killed",
  "OutOfMemory",
  "OOMKilled",
  "VmmExited",
]);

/** Errors that somebody still has to read or act on: a missing compute object does not make them orphans. */
const keptErrors: ReadonlySet<string> = new Set([
  MAIN_PROCESS_FAILED,
  PROVISIONING_TIMED_OUT,
  IMAGE_PREPARATION_TIMED_OUT,
  ISOLATION_BACKEND_MISMATCH,
  COMPUTE_RESOURCE_MISSING,
  BACKEND_RESOURCE_MISSING,
]);

/** Whether an Error record tells of infrastructure only, so that nothing is lost with it when the backend has nothing. */
export function isInfrastructureError(
  reason: string | null | undefined,
  exitCode: number | null | undefined,
): boolean {
  return typeof exitCode !== "number" && !(typeof reason === "string" && keptErrors.has(reason));
}

/** A word that may stand as a condition's reason: Pascal case, so that a raw `exited` or `Not started` does not leak. */
const PUBLISHABLE = /^[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*$/;

/**
 * Words of backends by what the reason catalog calls them: for a state that is no failure, and what a controller says
 * of an end. Other failures have their names from the observers.
 */
export const backendWords: Readonly<Record<string, readonly string[]>> = {
  ContainerStarting: ["ContainerCreating", "PodInitializing"],
  DependenciesNotReady: ["ContainersNotReady", "ReadinessGatesNotReady"],
  Starting: ["Uninitialized", "Created"],
  Stopping: ["PodNotTerminated", "PodTerminating", "Halting"],
  Suspended: ["SandboxSuspended", "PodTerminated", "Paused"],
  Unschedulable: ["SchedulingGated"],
  ComputeStateUnknown: ["PodStateUnknown", "PodSchedulingUnknown"],
  BackendOperationFailed: [
    "KillContainerError",
    "KillPodSandboxError",
    "ResizePodInPlaceError",
    "RemoveContainerError",
  ],
  MainProcessFailed: ["PodFailed"],
  OwnershipConflict: ["MultiplePods", "PodNotOwned"],
  MainProcessCompleted: ["PodSucceeded"],
  Expired: ["SandboxExpired"],
};

/** What is published for a backend's word. */
export interface PublishedReason {
  readonly reason: string;
  /** The word itself, where the catalog has another for it. */
  readonly cause?: ConditionCause | undefined;
}

const publishedWords: ReadonlyMap<string, PublishedReason> = new Map(
  Object.entries(backendWords).flatMap(([reason, words]) =>
    words.map((word) => [
      word,
      Object.freeze({ reason, cause: Object.freeze({ reason: word, message: "" }) }),
    ]),
  ),
);

/**
 * What stands for a backend's word: the catalog's word with the backend's as its cause, a word that the catalog does not
 * know as it is (a newer backend may have it), and the fallback where the word may not be published at all. What the
 * observer calls the failure comes first; Kubernetes would refuse the whole status for a word that it does not accept.
 */
export function published(
  { failureReason, backendReason }: Pick<Observation, "failureReason" | "backendReason">,
  fallback: string,
): PublishedReason {
  const word = failureReason ?? backendReason ?? fallback;
  return (
    publishedWords.get(word) ?? {
      reason: failureReason !== null ? sanitizeReason(word) : PUBLISHABLE.test(word) ? word : fallback,
    }
  );
}
