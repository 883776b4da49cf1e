import type { sandboxTypes } from "./condition-types.js";
import type { KnownReason } from "./reasons.js";

/** The reason on `Ready`, or one for each condition type that is written. */
type Written = KnownReason | Partial<Record<keyof typeof sandboxTypes, KnownReason>>;

/**
 * What is published where, by operation and by what was found. Changing a reason here changes what clients see:
 * `slipway reasons check` compares these tables.
 */
const written: Record<string, Record<string, Written>> = {
  create: {
    accepted: "Starting",
    "resources-denied": "ResourceAdmissionDenied",
    "claim-waiting": "ClaimPending",
    "claim-source-missing": "ClaimSourceMissing",
    "claim-invalid": "ClaimInvalid",
    "vm-not-provisioned": "ProvisioningFailed",
    "container-refused": "ContainerCreateFailed",
    "token-not-written": "SandboxTokenWriteFailed",
    "container-created": "ContainerCreated",
  },
  schedule: {
    "no-node": { Ready: "Unschedulable", PodScheduled: "Unschedulable" },
    "node-found": { PodScheduled: "Scheduled" },
    unreadable: { PodScheduled: "ComputeStateUnknown" },
    "node-refused": "AdmissionRejected",
  },
  prepare: {
    "pull-failed": "ImagePullFailed",
    "image-name-malformed": "ImageInvalid",
    "deadline-expired": "ImagePreparationTimedOut",
    "isolation-backend-mismatch": {
      Ready: "IsolationBackendMismatch",
      IsolationBackendMatched: "IsolationBackendMismatch",
    },
  },
  configure: {
    waiting: {
      Ready: "ConfigurationPending",
      ConfigurationReady: "ConfigurationPending",
      DesiredConfigurationReady: "ConfigurationPending",
    },
    rejected: {
      Ready: "ConfigurationInvalid",
      ConfigurationReady: "ConfigurationInvalid",
      DesiredConfigurationReady: "ConfigurationInvalid",
    },
    accepted: {
      ConfigurationReady: "ConfigurationAccepted",
      DesiredConfigurationReady: "ConfigurationAccepted",
    },
    "deadline-expired": "ProvisioningTimedOut",
    "ready-after-deadline": "ProvisioningDeadlineElapsed",
  },
  bootstrap: {
    "attempt-failed": { Bootstrapping: "BootstrapRetrying" },
    succeeded: { Bootstrapping: "BootstrapSucceeded" },
    "permanent-failure": { Ready: "BootstrapFailed", Bootstrapping: "BootstrapFailed" },
    "attempts-exhausted": { Ready: "BootstrapExhausted", Bootstrapping: "BootstrapExhausted" },
  },
  start: {
    accepted: "Starting",
    "driver-failed": "StartFailed",
    "resource-missing": "BackendResourceMissing",
    "container-not-started": "ContainerStartFailed",
    "container-preparing": "ContainerStarting",
    "container-config-invalid": "ContainerConfigInvalid",
    "init-failed": "InitFailed",
    "crash-loop": "CrashLoop",
    "health-unknown": "HealthCheckStarting",
    "workspace-refused": "WorkspaceValidationFailed",
    "monitor-failed": "VmmStartFailed",
    "no-session": "SupervisorNotConnected",
    "dependencies-missing": "DependenciesNotReady",
  },
  restart: {
    "main-process-ended": "MainProcessExitDraining",
    scheduled: "MainProcessRestartScheduled",
    "backing-off": "MainProcessRestartBackoff",
    accepted: "SandboxRestarting",
    "driver-failed": "SandboxRestartFailed",
    "gateway-restarted": "Resumed",
    "engine-restarting": "ContainerRestarting",
    "engine-restarted": "ContainerRuntimeRestart",
    "isolation-backend-mismatch": {
      Ready: "IsolationBackendMismatch",
      IsolationBackendMatched: "IsolationBackendMismatch",
    },
    "isolation-backend-match": { IsolationBackendMatched: "IsolationBackendMatches" },
  },
  run: {
    "session-connected": "DependenciesReady",
    "session-lost": "DependenciesNotReady",
    "backend-running": "BackendReady",
    "container-running": "ContainerRunning",
    "health-passed": "HealthCheckPassed",
    "health-failed": "HealthCheckFailed",
    "exit-zero": { Ready: "MainProcessCompleted", Finished: "MainProcessCompleted" },
    "exit-nonzero": { Ready: "MainProcessFailed", Finished: "MainProcessFailed" },
    "exit-unreported": "MainProcessExited",
    "container-ended": "ContainerExited",
    "process-ended": "ProcessExited",
    signal: "Killed",
    "memory-exceeded": "OutOfMemory",
    evicted: { Ready: "Evicted", DisruptionTarget: "Evicted" },
    preempted: { Ready: "Preempted", DisruptionTarget: "Preempted" },
    "node-shut-down": { Ready: "NodeShutdown", DisruptionTarget: "NodeShutdown" },
    "node-lost": { Ready: "NodeLost", DisruptionTarget: "NodeLost" },
    "pod-deadline": "DeadlineExceeded",
    "disk-error": "GuestIOError",
    "guest-panic": "GuestPanicked",
    watchdog: "WatchdogFired",
    "monitor-failed": "VmmInternalError",
    "resource-missing": "ComputeResourceMissing",
    "backend-empty": "BackendEmpty",
    "lifetime-over": "Expired",
    paused: "ContainerPaused",
    "not-suspended": { Suspended: "NotSuspended" },
  },
  observe: {
    "controller-failed": "ReconcilerError",
    unreadable: { Ready: "ComputeStateUnknown", Suspended: "ComputeStateUnknown" },
    "inspect-failed": "InspectFailed",
    "launcher-unreadable": "ProcessPollFailed",
    "operation-failed": "BackendOperationFailed",
    "foreign-owner": { Ready: "OwnershipConflict", Suspended: "OwnershipConflict" },
  },
  stop: {
    accepted: { Ready: "Stopping", Suspended: "Stopping" },
    done: "Stopped",
    suspended: { Ready: "Suspended", Suspended: "Suspended" },
    "container-stopped": "ContainerStopped",
    "vm-stopped": { Stopped: "ComputeStopped" },
  },
  delete: {
    accepted: "Deleting",
    "container-removing": "ContainerRemoving",
    "container-dead": "ContainerDead",
    "driver-failed": "RemovalFailed",
  },
};

/** What a reason is a case of, by reason and operation: the same finding after a restart was no timeout. */
const generalReasons: Partial<Record<string, readonly KnownReason[]>> = {
  "IsolationBackendMismatch Ready prepare": ["ImagePreparationTimedOut"],
};

export const sandboxEmissions = Object.entries(written).flatMap(([operation, findings]) =>
  Object.entries(findings).flatMap(([cause, reasons]) =>
    Object.entries(typeof reasons === "string" ? { Ready: reasons } : reasons).map(([type, reason]) => {
      const general = generalReasons[`${reason} ${type} ${operation}`];
      return { operation, cause, type, reason, ...(general && { generalReasons: general }) };
    }),
  ),
);
