import type { sandboxTypes } from "./condition-types.js";
import type { KnownReason } from "./reasons.js";

/** A reason, or the name of a finding, its reason and what that is a case of. */
type Finding = KnownReason | readonly [cause: string, reason: KnownReason, ...general: KnownReason[]];
type Written = Partial<Record<keyof typeof sandboxTypes, readonly Finding[]>>;

/**
 * What is published where: by operation and condition type. A finding has its own stable name where one reason covers
 * several findings; elsewhere it is named after its reason (`OutOfMemory` says `out-of-memory`). Whoever changes the
 * reason of a finding keeps its name, as `[cause, reason]`: `slipway reasons check` compares what each finding shows.
 */
const written: Record<string, Written> = {
  create: {
    Ready: [
      "Starting",
      "ResourceAdmissionDenied",
      "ClaimPending",
      "ClaimSourceMissing",
      "ClaimInvalid",
      "ProvisioningFailed",
      "ContainerCreateFailed",
      "SandboxTokenWriteFailed",
      "ContainerCreated",
    ],
  },
  schedule: {
    Ready: ["Unschedulable", "AdmissionRejected"],
    PodScheduled: ["Unschedulable", "Scheduled", "ComputeStateUnknown"],
  },
  prepare: {
    Ready: [
      "Preparation",
      "ImagePullFailed",
      "ImageInvalid",
      ["images-not-prepared", "ImagePreparationTimedOut"],
      ["image-pull-failing", "ImagePreparationTimedOut"],
      ["pod-not-scheduled", "ImagePreparationTimedOut"],
      // Contract 1 publishes the mismatch at the preparation deadline as the timeout; contract 2 by its name.
      ["isolation-backend-mismatch", "ImagePreparationTimedOut"],
      // After a restart the same finding was no timeout.
      ["isolation-backend-mismatch", "IsolationBackendMismatch", "ImagePreparationTimedOut"],
    ],
    IsolationBackendMatched: ["IsolationBackendMismatch"],
  },
  configure: {
    Ready: [
      "Admission",
      "ConfigurationPending",
      "ConfigurationInvalid",
      ["configuration-not-admitted", "ProvisioningTimedOut"],
      ["configuration-not-repaired", "ProvisioningTimedOut"],
      ["supervisor-not-registered", "ProvisioningTimedOut"],
      "ProvisioningDeadlineElapsed",
    ],
    ConfigurationReady: ["ConfigurationPending", "ConfigurationInvalid", "ConfigurationAccepted"],
    DesiredConfigurationReady: ["ConfigurationPending", "ConfigurationInvalid", "ConfigurationAccepted"],
  },
  bootstrap: {
    Bootstrapped: [
      "BootstrapPending",
      "BootstrapInProgress",
      "BootstrapSucceeded",
      "BootstrapCancelled",
      "BootstrapFailed",
      "BootstrapAttemptsExhausted",
      "BootstrapDeadlineExceeded",
    ],
    Bootstrapping: ["BootstrapInProgress", "BootstrapSucceeded"],
    Ready: ["BootstrapFailed", "BootstrapAttemptsExhausted", "BootstrapDeadlineExceeded"],
  },
  start: {
    Ready: [
      "Starting",
      ["driver-refused", "StartFailed"],
      ["driver-failed", "StartFailed"],
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
    ],
  },
  restart: {
    Ready: [
      "MainProcessExitDraining",
      "MainProcessRestartScheduled",
      "MainProcessRestartBackoff",
      "SandboxRestarting",
      "SandboxRestartFailed",
      "Resumed",
      "ContainerRestarting",
      "ContainerRuntimeRestart",
      "IsolationBackendMismatch",
    ],
    IsolationBackendMatched: ["IsolationBackendMismatch", "IsolationBackendMatches"],
  },
  run: {
    Ready: [
      "DependenciesReady",
      "DependenciesNotReady",
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
    ],
    Finished: ["MainProcessCompleted", "MainProcessFailed"],
    DisruptionTarget: ["Evicted", "Preempted", "NodeShutdown", "NodeLost"],
    Suspended: ["NotSuspended"],
  },
  observe: {
    Ready: [
      "ReconcilerError",
      "ComputeStateUnknown",
      "InspectFailed",
      "ProcessPollFailed",
      "BackendOperationFailed",
      ["pod-not-owned", "OwnershipConflict"],
      ["multiple-pods", "OwnershipConflict"],
      "BackendError",
      "BackendUnreachable",
      "Unreadable",
    ],
    Suspended: ["ComputeStateUnknown", ["pod-not-owned", "OwnershipConflict"]],
  },
  stop: {
    Ready: ["Stopping", "Stopped", "Suspended", "ContainerStopped"],
    Suspended: ["Stopping", "Suspended"],
    Stopped: ["ComputeStopped"],
  },
  delete: {
    Ready: ["Deleting", "Deleted", "ContainerRemoving", "ContainerDead", "RemovalFailed"],
  },
};

export const sandboxEmissions = Object.entries(written).flatMap(([operation, types]) =>
  Object.entries(types).flatMap(([type, reasons]) =>
    reasons.map((finding) => {
      const [cause, reason, ...generalReasons]: Exclude<Finding, string> =
        typeof finding === "string" ? [finding.replace(/\B[A-Z]/g, "-$&").toLowerCase(), finding] : finding;
      return {
        operation,
        cause,
        type,
        reason,
        ...(generalReasons.length > 0 && { generalReasons }),
        ...(reason.startsWith("IsolationBackendM") && { since: 2 }),
      };
    }),
  ),
);
