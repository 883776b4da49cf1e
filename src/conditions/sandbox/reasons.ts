/** Names only, so that a client pays for no descriptions; in the order of the emissions, so that a bundle of both is smaller. */
const contract1 = [
  "Starting",
  "ResourceAdmissionDenied",
  "ClaimPending",
  "ClaimSourceMissing",
  "ClaimInvalid",
  "ProvisioningFailed",
  "ContainerCreateFailed",
  "SandboxTokenWriteFailed",
  "ContainerCreated",
  "Unschedulable",
  "AdmissionRejected",
  "Scheduled",
  "ComputeStateUnknown",
  "Preparation",
  "ImagePullFailed",
  "ImageInvalid",
  "ImagePreparationTimedOut",
  "Admission",
  "ConfigurationPending",
  "ConfigurationInvalid",
  "ProvisioningTimedOut",
  "ProvisioningDeadlineElapsed",
  "ConfigurationAccepted",
  "BootstrapPending",
  "BootstrapInProgress",
  "BootstrapSucceeded",
  "BootstrapCancelled",
  "BootstrapFailed",
  "BootstrapAttemptsExhausted",
  "BootstrapDeadlineExceeded",
  "StartFailed",
  "BackendResourceMissing",
  "ContainerStartFailed",
  "ContainerStarting",
  "ContainerConfigInvalid",
  "InitFailed",
  "CrashLoop",
  "HealthCheckStarting",
  "WorkspaceValidationFailed",
  "VmmStartFailed",
  "SupervisorNotConnected",
  "DependenciesNotReady",
  "MainProcessExitDraining",
  "MainProcessRestartScheduled",
  "MainProcessRestartBackoff",
  "SandboxRestarting",
  "SandboxRestartFailed",
  "Resumed",
  "ContainerRestarting",
  "ContainerRuntimeRestart",
  "DependenciesReady",
  "BackendReady",
  "ContainerRunning",
  "HealthCheckPassed",
  "HealthCheckFailed",
  "MainProcessCompleted",
  "MainProcessFailed",
  "MainProcessExited",
  "ContainerExited",
  "ProcessExited",
  "Killed",
  "OutOfMemory",
  "Evicted",
  "Preempted",
  "NodeShutdown",
  "NodeLost",
  "DeadlineExceeded",
  "GuestIOError",
  "GuestPanicked",
  "WatchdogFired",
  "VmmInternalError",
  "ComputeResourceMissing",
  "BackendEmpty",
  "Expired",
  "ContainerPaused",
  "VmmExited",
  "NotSuspended",
  "ReconcilerError",
  "InspectFailed",
  "ProcessPollFailed",
  "BackendOperationFailed",
  "OwnershipConflict",
  "BackendError",
  "BackendUnreachable",
  "Unreadable",
  "Stopping",
  "Stopped",
  "Suspended",
  "ContainerStopped",
  "ComputeStopped",
  "Deleting",
  "Deleted",
  "ContainerRemoving",
  "ContainerDead",
  "RemovalFailed",
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
