import { type ConditionCause, sanitizeReason } from "../conditions/index.js";
import type { Observation } from "./observation.js";
import type { Phase } from "./phase.js";

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

const WAITING: readonly Phase[] = ["Provisioning", "Starting"];
const STOPPING: readonly Phase[] = ["Stopping"];
const ENDED: readonly Phase[] = ["Error"];

/** Words of backends that the reason catalog calls by one name, and the phases that it lets that name accompany. */
export interface CatalogWords {
  /** Of the phases that a backend's word can explain; the others have reasons of their own. */
  readonly phases: readonly Phase[];
  readonly words: readonly string[];
}

/**
 * Words of backends by what the reason catalog calls them, in whatever position a controller or a driver says them. A
 * name of the catalog's own stands here where it means an end: no sandbox that is still waited for may be told ended.
 */
export const backendWords: Readonly<Record<string, CatalogWords>> = {
  ContainerStarting: { phases: WAITING, words: ["ContainerCreating", "PodInitializing"] },
  DependenciesNotReady: { phases: WAITING, words: ["ContainersNotReady", "ReadinessGatesNotReady"] },
  Starting: { phases: WAITING, words: ["Uninitialized", "Created"] },
  Stopping: { phases: STOPPING, words: ["PodNotTerminated", "PodTerminating", "Halting"] },
  Suspended: { phases: [], words: ["SandboxSuspended", "PodTerminated", "Paused"] },
  Unschedulable: { phases: WAITING, words: ["SchedulingGated"] },
  Scheduled: { phases: [], words: ["PodScheduled"] },
  BackendReady: { phases: [], words: ["Running"] },
  ClaimPending: {
    phases: ["Provisioning"],
    words: ["AdoptionConflict", "SandboxCreatePending", "SandboxMissing", "SandboxNotReady"],
  },
  ClaimSourceMissing: { phases: ["Provisioning"], words: ["TemplateNotFound", "WarmPoolNotFound"] },
  ClaimInvalid: {
    phases: ENDED,
    words: ["InvalidMetadata", "EnvVarsInjectionRejected", "VolumeClaimTemplatesError"],
  },
  ImagePullFailed: {
    phases: [...WAITING, ...ENDED],
    words: [
      "ErrImagePull",
      "ImagePullBackOff",
      "ImageInspectError",
      "RegistryUnavailable",
      "ErrImageNeverPull",
    ],
  },
  ImageInvalid: { phases: ENDED, words: ["InvalidImageName"] },
  ContainerConfigInvalid: { phases: WAITING, words: ["CreateContainerConfigError"] },
  ContainerStartFailed: {
    phases: [...WAITING, ...ENDED],
    words: [
      "CreateContainerError",
      "RunContainerError",
      "CreatePodSandboxError",
      "ConfigPodSandboxError",
      "StartError",
    ],
  },
  CrashLoop: { phases: WAITING, words: ["CrashLoopBackOff"] },
  ComputeStateUnknown: {
    phases: [...WAITING, ...STOPPING, ...ENDED],
    // Kubernetes says `Unknown` of an end too, which its observer knows; Podman's driver of a state.
    words: ["PodStateUnknown", "PodSchedulingUnknown", "Unknown"],
  },
  BackendOperationFailed: {
    phases: [...WAITING, ...STOPPING, ...ENDED],
    words: ["KillContainerError", "KillPodSandboxError", "ResizePodInPlaceError", "RemoveContainerError"],
  },
  MainProcessCompleted: { phases: [], words: ["PodSucceeded", "Completed", "Halted"] },
  MainProcessFailed: { phases: ENDED, words: ["PodFailed"] },
  ProcessExited: { phases: ENDED, words: ["Error"] },
  Killed: { phases: ENDED, words: ["ContainerStatusUnknown"] },
  OutOfMemory: { phases: ENDED, words: ["OOMKilled"] },
  Evicted: { phases: ENDED, words: ["Evicted", "EvictionByEvictionAPI", "TerminationByKubelet"] },
  Preempted: { phases: ENDED, words: ["Preempting", "PreemptionByScheduler"] },
  NodeShutdown: { phases: ENDED, words: ["NodeShutdown", "Terminated", "Shutdown"] },
  NodeLost: { phases: [], words: ["NodeLost", "DeletionByTaintManager", "DeletionByPodGC"] },
  DeadlineExceeded: { phases: ENDED, words: ["DeadlineExceeded"] },
  AdmissionRejected: {
    phases: ENDED,
    words: [
      "OutOfcpu",
      "OutOfmemory",
      "OutOfpods",
      "OutOfephemeral-storage",
      "NodeAffinity",
      "UnexpectedAdmissionError",
    ],
  },
  OwnershipConflict: { phases: [...STOPPING, ...ENDED], words: ["MultiplePods", "PodNotOwned"] },
  Expired: { phases: STOPPING, words: ["SandboxExpired", "ClaimExpired"] },
};

/** What is published for a backend's word. */
export interface PublishedReason {
  readonly reason: string;
  /** The word itself, where the catalog has another for it. */
  readonly cause?: ConditionCause | undefined;
}

const catalogNames: ReadonlyMap<string, string> = new Map(
  Object.entries(backendWords).flatMap(([reason, { words }]) => words.map((word) => [word, reason])),
);

/**
 * What stands for a backend's word beside a phase: the catalog's word with the backend's as its cause, a word that the
 * catalog does not know as it is (a newer backend may have it), and the fallback where the word may not be published at
 * all. What the observer calls the failure comes first; Kubernetes would refuse the whole status for a word that it does
 * not accept. A word whose reason does not accompany the phase is only the fallback's cause: what says that a run is
 * over must not make anybody give up on one that is waited for.
 */
export function published(
  { failureReason, backendReason }: Pick<Observation, "failureReason" | "backendReason">,
  fallback: string,
  phase: Phase,
): PublishedReason {
  const word = failureReason ?? backendReason ?? fallback;
  const name = catalogNames.get(word);
  // An observer's own verdict is the catalog's word already, and stands whatever comes of it.
  if (name === undefined || (name === word && failureReason !== null)) {
    return {
      reason: failureReason !== null ? sanitizeReason(word) : PUBLISHABLE.test(word) ? word : fallback,
    };
  }
  const reason = backendWords[name]?.phases.includes(phase) === true ? name : fallback;
  return reason === word ? { reason } : { reason, cause: { reason: sanitizeReason(word), message: "" } };
}
