import { type ConditionCause, sanitizeReason } from "../conditions/index.js";
import type { Observation } from "./observation.js";
import type { Phase } from "./phase.js";
import type { PhasePolicy } from "./record.js";

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
  /** Published by the catalog's name since contract 1, with the word as its cause. */
  readonly renamed?: readonly string[];
  /** Published as they are since contract 1, with the catalog's name as their cause. */
  readonly literal?: readonly string[];
}

/**
 * Words of backends by what the reason catalog calls them, in whatever position a controller or a driver says them. A
 * word that was ever published stays where clients compare it: which of two names is the reason is frozen, and what is
 * learnt later is the cause. A name of the catalog's own stands here where it means an end: no sandbox that is still
 * waited for may be told ended.
 */
export const backendWords: Readonly<Record<string, CatalogWords>> = {
  ContainerStarting: { phases: WAITING, renamed: ["ContainerCreating", "PodInitializing"] },
  DependenciesNotReady: { phases: WAITING, renamed: ["ContainersNotReady", "ReadinessGatesNotReady"] },
  Starting: { phases: WAITING, renamed: ["Uninitialized", "Created"] },
  Stopping: { phases: STOPPING, renamed: ["PodNotTerminated", "PodTerminating", "Halting"] },
  Suspended: { phases: [], renamed: ["SandboxSuspended", "PodTerminated", "Paused"] },
  Unschedulable: { phases: WAITING, renamed: ["SchedulingGated"] },
  ClaimPending: {
    phases: ["Provisioning"],
    literal: ["AdoptionConflict", "SandboxCreatePending", "SandboxMissing", "SandboxNotReady"],
  },
  ClaimSourceMissing: { phases: ["Provisioning"], literal: ["TemplateNotFound", "WarmPoolNotFound"] },
  ClaimInvalid: {
    phases: ENDED,
    literal: ["InvalidMetadata", "EnvVarsInjectionRejected", "VolumeClaimTemplatesError"],
  },
  ImagePullFailed: {
    phases: [...WAITING, ...ENDED],
    literal: [
      "ErrImagePull",
      "ImagePullBackOff",
      "ImageInspectError",
      "RegistryUnavailable",
      "ErrImageNeverPull",
    ],
  },
  ImageInvalid: { phases: ENDED, literal: ["InvalidImageName"] },
  ContainerConfigInvalid: { phases: WAITING, literal: ["CreateContainerConfigError"] },
  ContainerStartFailed: {
    phases: [...WAITING, ...ENDED],
    literal: [
      "CreateContainerError",
      "RunContainerError",
      "CreatePodSandboxError",
      "ConfigPodSandboxError",
      "StartError",
    ],
  },
  CrashLoop: { phases: WAITING, literal: ["CrashLoopBackOff"] },
  ComputeStateUnknown: {
    phases: [...WAITING, ...STOPPING, ...ENDED],
    renamed: ["PodStateUnknown", "PodSchedulingUnknown"],
    // Kubernetes says `Unknown` of an end too, which its observer knows; Podman's driver of a state.
    literal: ["Unknown"],
  },
  BackendOperationFailed: {
    phases: [...WAITING, ...STOPPING, ...ENDED],
    renamed: ["KillContainerError", "KillPodSandboxError", "ResizePodInPlaceError", "RemoveContainerError"],
  },
  MainProcessCompleted: { phases: [], renamed: ["PodSucceeded"], literal: ["Completed", "Halted"] },
  MainProcessFailed: { phases: ENDED, renamed: ["PodFailed"] },
  ProcessExited: { phases: ENDED, literal: ["Error", "ContainerStatusUnknown"] },
  OutOfMemory: { phases: ENDED, literal: ["OOMKilled"] },
  Evicted: { phases: ENDED, literal: ["Evicted", "EvictionByEvictionAPI", "TerminationByKubelet"] },
  Preempted: { phases: ENDED, literal: ["Preempting", "PreemptionByScheduler"] },
  NodeShutdown: { phases: ENDED, literal: ["NodeShutdown", "Terminated", "Shutdown"] },
  NodeLost: { phases: ENDED, literal: ["NodeLost", "DeletionByTaintManager", "DeletionByPodGC"] },
  DeadlineExceeded: { phases: ENDED, literal: ["DeadlineExceeded"] },
  AdmissionRejected: {
    phases: ENDED,
    literal: [
      "OutOfcpu",
      "OutOfmemory",
      "OutOfpods",
      "OutOfephemeral-storage",
      "NodeAffinity",
      "UnexpectedAdmissionError",
    ],
  },
  OwnershipConflict: { phases: [...STOPPING, ...ENDED], renamed: ["MultiplePods", "PodNotOwned"] },
  Expired: { phases: STOPPING, renamed: ["SandboxExpired"], literal: ["ClaimExpired"] },
};

/** What is published for a backend's word. */
export interface PublishedReason {
  readonly reason: string;
  /** The other name of the same finding: the word where the catalog's name is the reason, and the other way round. */
  readonly cause?: ConditionCause | undefined;
}

/** What is neither waiting nor an end: a stop that is seen while something is waited for may be the previous run's. */
const NO_ENDS: ReadonlySet<string> = new Set(["Stopping", "Suspended"]);

interface Naming {
  readonly name: string;
  readonly phases: readonly Phase[];
  readonly isRenamed: boolean;
  readonly isEnd: boolean;
}

const namings: ReadonlyMap<string, Naming> = new Map(
  Object.entries(backendWords).flatMap(([name, { phases, renamed = [], literal = [] }]) =>
    [...renamed, ...literal].map((word): [string, Naming] => [
      word,
      {
        name,
        phases,
        isRenamed: renamed.includes(word),
        isEnd: !NO_ENDS.has(name) && !phases.some((phase) => WAITING.includes(phase)),
      },
    ]),
  ),
);

/** Names of the catalog's own by which a driver or a controller says that it is over, beside those that stand above. */
const FURTHER_ENDS: readonly string[] = [
  "StartFailed",
  "MainProcessExited",
  "ResourceAdmissionDenied",
  "BootstrapFailed",
  "BootstrapAttemptsExhausted",
  "BootstrapDeadlineExceeded",
  "ContainerCreateFailed",
  "ContainerDead",
  "RemovalFailed",
  "SandboxTokenWriteFailed",
  "WorkspaceValidationFailed",
  "ProvisioningFailed",
];

/**
 * The catalog's names for what is over: none that it lets accompany what is still waited for, as a container that
 * prepares, which may fail and be tried again.
 */
export const endNames: ReadonlySet<string> = new Set(
  [
    ...restartableReasons,
    ...exitReasons,
    ...keptErrors,
    ...[...namings.values()].flatMap(({ name, isEnd }) => (isEnd ? [name] : [])),
    ...FURTHER_ENDS,
  ].filter(
    (name) => name !== "InitFailed" && !backendWords[name]?.phases.some((phase) => WAITING.includes(phase)),
  ),
);

/**
 * The name of the catalog for what a record's reason says, where that is a backend's word: what the gates decide by, so
 * that a failure is the same one under both of its names.
 */
export function catalogName(reason: string): string {
  return namings.get(reason)?.name ?? reason;
}

/** Whether the policy welcomes an automatic start from this reason, by the word itself or by the catalog's name for it. */
export function isRecoverable(reason: string, policy: PhasePolicy | undefined): boolean {
  const welcome = policy?.recoverable ?? [];
  return welcome.includes(reason) || welcome.includes(catalogName(reason));
}

/**
 * What stands for a backend's word beside a phase: what has stood for it since contract 1, with its other name as the
 * cause; a word that the catalog does not know as it is (a newer backend may have it); the fallback where the word may
 * not be published at all. What the observer calls the failure comes first; Kubernetes would refuse the whole status for
 * a word that it does not accept. A word for an end is only the fallback's cause while something is waited for: what
 * says that a run is over must not make anybody give up on it.
 */
export function published(
  { failureReason, backendReason }: Pick<Observation, "failureReason" | "backendReason">,
  fallback: string,
  phase: Phase,
): PublishedReason {
  const word = failureReason ?? backendReason ?? fallback;
  const naming = namings.get(word);
  const literal = failureReason !== null ? sanitizeReason(word) : PUBLISHABLE.test(word) ? word : fallback;
  // An observer's own verdict is the catalog's word already, and stands whatever comes of it.
  if (failureReason === null && WAITING.includes(phase) && endNames.has(word))
    return withCause(fallback, word);
  if (naming === undefined || (naming.name === word && failureReason !== null)) return { reason: literal };
  const { name, phases, isRenamed, isEnd } = naming;
  if (isEnd && WAITING.includes(phase)) return withCause(fallback, word);
  if (isRenamed) return withCause(name, word);
  // The word itself where it may stand for the phase's own reason; its name by the catalog only where that may too.
  return withCause(literal, literal === fallback ? word : phases.includes(phase) ? name : literal);
}

function withCause(reason: string, other: string): PublishedReason {
  return reason === other ? { reason } : { reason, cause: { reason: sanitizeReason(other), message: "" } };
}
