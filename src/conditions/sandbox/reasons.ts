/** Names only, so that a client pays for no descriptions. */
const contract1 = [
  "Admission",
  "AdmissionRejected",
  "BackendEmpty",
  "BackendError",
  "BackendOperationFailed",
  "BackendReady",
  "BackendResourceMissing",
  "BackendUnreachable",
  "BootstrapAttemptsExhausted",
  "BootstrapCancelled",
  "BootstrapDeadlineExceeded",
  "BootstrapFailed",
  "BootstrapInProgress",
  "BootstrapPending",
  "BootstrapSucceeded",
  "ClaimInvalid",
  "ClaimPending",
  "ClaimSourceMissing",
  "ComputeResourceMissing",
  "ComputeStateUnknown",
  "ComputeStopped",
  "ConfigurationAccepted",
  "ConfigurationInvalid",
  "ConfigurationPending",
  "ContainerConfigInvalid",
  "ContainerCreateFailed",
  "ContainerCreated",
  "ContainerDead",
  "ContainerExited",
  "ContainerPaused",
  "ContainerRemoving",
  "ContainerRestarting",
  "ContainerRunning",
  "ContainerRuntimeRestart",
  "ContainerStartFailed",
  "ContainerStarting",
  "ContainerStopped",
  "CrashLoop",
  "DeadlineExceeded",
  "Deleted",
  "Deleting",
  "DependenciesNotReady",
  "DependenciesReady",
  "Evicted",
  "Expired",
  "GuestIOError",
  "GuestPanicked",
  "HealthCheckFailed",
  "HealthCheckPassed",
  "HealthCheckStarting",
  "ImageInvalid",
  "ImagePreparationTimedOut",
  "ImagePullFailed",
  "InitFailed",
  "InspectFailed",
  "Killed",
  "MainProcessCompleted",
  "MainProcessExitDraining",
  "MainProcessExited",
  "MainProcessFailed",
  "MainProcessRestartBackoff",
  "MainProcessRestartScheduled",
  "NodeLost",
  "NodeShutdown",
  "NotSuspended",
  "OutOfMemory",
  "OwnershipConflict",
  "Preempted",
  "Preparation",
  "ProcessExited",
  "ProcessPollFailed",
  "ProvisioningDeadlineElapsed",
  "ProvisioningFailed",
  "ProvisioningTimedOut",
  "ReconcilerError",
  "RemovalFailed",
  "ResourceAdmissionDenied",
  "Resumed",
  "SandboxRestartFailed",
  "SandboxRestarting",
  "SandboxTokenWriteFailed",
  "Scheduled",
  "StartFailed",
  "Starting",
  "Stopped",
  "Stopping",
  "SupervisorNotConnected",
  "Suspended",
  "Unreadable",
  "Unschedulable",
  "VmmExited",
  "VmmInternalError",
  "VmmStartFailed",
  "WatchdogFired",
  "WorkspaceValidationFailed",
] as const;
const contract2 = [...contract1, "IsolationBackendMatches", "IsolationBackendMismatch"] as const;

/**
 * The reasons of contract 1, by name: what consumers match today.
 *
 * @example
 * ```ts
 * import { matchesReason, ReasonV1 } from "slipway/conditions";
 *
 * matchesReason({ reason: "Starting" }, ReasonV1.Starting); // => true
 * ```
 *
 * @public
 */
export const ReasonV1 = /* @__PURE__ */ named(contract1);

/**
 * The reasons of contract 1, as a closed union.
 *
 * @public
 */
export type ReasonV1 = (typeof ReasonV1)[keyof typeof ReasonV1];

/**
 * The reasons of contract 2, by name: those of contract 1, and what a reader has to ask for.
 *
 * @public
 */
export const ReasonV2 = /* @__PURE__ */ named(contract2);

/**
 * The reasons of contract 2, as a closed union.
 *
 * @public
 */
export type ReasonV2 = (typeof ReasonV2)[keyof typeof ReasonV2];

/**
 * Every reason of the built-in catalog, as a closed union: for writers, and for exhaustive switches.
 *
 * @public
 */
export type KnownReason = ReasonV2;

/**
 * A reason as readers meet it: a newer peer may send one that is not in the list, so it is any string, with the known
 * ones offered for completion.
 *
 * @public
 */
export type Reason = KnownReason | (string & {});

function named<const Name extends string>(names: readonly Name[]): { readonly [Key in Name]: Key } {
  return Object.freeze(Object.fromEntries(names.map((name) => [name, name]))) as {
    readonly [Key in Name]: Key;
  };
}
