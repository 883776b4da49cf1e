import type { sandboxTypes } from "./condition-types.js";
import type { KnownReason } from "./reasons.js";

type Written = Partial<Record<keyof typeof sandboxTypes, readonly KnownReason[]>>;

/**
 * What is published where: by operation and condition type. What was found is named after its reason (`OutOfMemory`
 * says `out-of-memory`); to publish another reason for the same finding, state that emission with its cause.
 * `slipway reasons check` compares these tables.
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
      "ImagePreparationTimedOut",
      "IsolationBackendMismatch",
    ],
    IsolationBackendMatched: ["IsolationBackendMismatch"],
  },
  configure: {
    Ready: [
      "Admission",
      "ConfigurationPending",
      "ConfigurationInvalid",
      "ProvisioningTimedOut",
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
      "OwnershipConflict",
      "BackendError",
      "BackendUnreachable",
    ],
    Suspended: ["ComputeStateUnknown", "OwnershipConflict"],
  },
  stop: {
    Ready: ["Stopping", "Stopped", "Suspended", "ContainerStopped"],
    Suspended: ["Stopping", "Suspended"],
    Stopped: ["ComputeStopped"],
  },
  delete: {
    Ready: ["Deleting", "ContainerRemoving", "ContainerDead", "RemovalFailed"],
  },
};

/** What a reason is a case of, by operation and reason: the same finding after a restart was no timeout. */
const generalReasons: Partial<Record<string, readonly KnownReason[]>> = {
  "prepare Ready IsolationBackendMismatch": ["ImagePreparationTimedOut"],
};

export const sandboxEmissions = Object.entries(written).flatMap(([operation, types]) =>
  Object.entries(types).flatMap(([type, reasons]) =>
    reasons.map((reason) => {
      const cause = reason.replace(/\B[A-Z]/g, "-$&").toLowerCase();
      const general = generalReasons[`${operation} ${type} ${reason}`];
      return { operation, cause, type, reason, ...(general && { generalReasons: general }) };
    }),
  ),
);
