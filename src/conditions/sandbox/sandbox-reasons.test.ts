import { describe, expect, it } from "vitest";
import { defineReasonCatalog, describeReason, ReasonV1, ReasonV2, sandboxReasons } from "../index.js";

/** Every word of the reference tables: controllers, pods, engines, virtual machines, gateways and drivers. */
const words: Record<string, string> = {
  "agent-sandbox": `DependenciesReady DependenciesNotReady ReconcilerError SandboxExpired PodSucceeded PodFailed
    SandboxSuspended PodTerminated PodNotTerminated NotSuspended PodTerminating PodNotOwned PodStateUnknown MultiplePods
    PodScheduled PodSchedulingUnknown TemplateNotFound WarmPoolNotFound AdoptionConflict SandboxCreatePending
    SandboxMissing SandboxNotReady InvalidMetadata EnvVarsInjectionRejected VolumeClaimTemplatesError ClaimExpired`,
  kubernetes: `ContainerCreating PodInitializing ErrImagePull ImagePullBackOff ImageInspectError RegistryUnavailable
    ErrImageNeverPull InvalidImageName CreateContainerConfigError CreateContainerError RunContainerError
    CreatePodSandboxError ConfigPodSandboxError CrashLoopBackOff ContainersNotReady ReadinessGatesNotReady Completed Error
    OOMKilled StartError ContainerStatusUnknown Unknown Evicted Preempting Terminated Shutdown NodeShutdown
    DeadlineExceeded OutOfcpu OutOfmemory OutOfpods NodeAffinity UnexpectedAdmissionError NodeLost EvictionByEvictionAPI
    PreemptionByScheduler DeletionByTaintManager DeletionByPodGC TerminationByKubelet KillContainerError
    KillPodSandboxError ResizePodInPlaceError RemoveContainerError Unschedulable SchedulingGated`,
  docker: "created running paused restarting removing exited dead starting healthy unhealthy",
  podman: `created initialized running paused stopping stopped exited removing unknown bad|state healthy unhealthy
    starting OOMKilled`,
  qemu: `running prelaunch preconfig inmigrate restore-vm paused suspended io-error watchdog guest-panicked
    internal-error shutdown save-vm finish-migrate colo postmigrate debug host-error host-qmp-quit host-qmp-system-reset
    host-signal host-ui guest-shutdown guest-reset guest-panic subsystem-reset snapshot-load`,
  libvirt: "0 1 2 3/1 3/2 3/5 3/6 3/7 3/8 3/9 3/10 3/11 3/12 3/13 4 5/1 5/2 5/3 5/4 5/5 5/6 5/7 6",
  firecracker: "Not|started Running Paused Uninitialized Starting Halting Halted",
  "cloud-hypervisor": "Created Running Paused Shutdown",
  drivers: `BackendReady Starting ContainerRestarting Deleting ContainerPaused ContainerExited ContainerDead
    ContainerCreateFailed ImagePullFailed SandboxTokenWriteFailed ContainerStartFailed ContainerRunning ContainerStarting
    ContainerCreated ContainerStopped ContainerRemoving HealthCheckPassed HealthCheckFailed HealthCheckStarting
    InspectFailed Unknown OOMKilled ContainerRuntimeRestart WorkspaceValidationFailed ComputeStopped ProcessExited
    ProcessPollFailed ProvisioningFailed`,
  gateway: `DependenciesReady SupervisorNotConnected DependenciesNotReady Stopping Stopped Starting MainProcessExited
    MainProcessCompleted MainProcessFailed MainProcessExitDraining MainProcessRestartScheduled MainProcessRestartBackoff
    SandboxRestarting SandboxRestartFailed BackendResourceMissing StartFailed ComputeResourceMissing Resumed
    ResourceAdmissionDenied ConfigurationPending ConfigurationInvalid ConfigurationAccepted ProvisioningDeadlineElapsed
    ProvisioningTimedOut ImagePreparationTimedOut IsolationBackendMismatch`,
  derived: `BackendEmpty OwnershipConflict NodeLost Expired CrashLoop InitFailed ImageInvalid ContainerConfigInvalid
    OutOfMemory Killed Evicted Preempted NodeShutdown DeadlineExceeded AdmissionRejected Suspended RemovalFailed
    GuestIOError WatchdogFired GuestPanicked VmmInternalError VmmStartFailed`,
};

describe("sandboxReasons", () => {
  it("is a catalog that defineReasonCatalog accepts", () => {
    const catalog = defineReasonCatalog(sandboxReasons as never);
    expect(catalog).toEqual(sandboxReasons);
  });

  it("cannot be changed by one of its users", () => {
    expect(Object.isFrozen(sandboxReasons.reasons.Starting.types)).toBe(true);
  });

  it.each(Object.entries(words))("explains every word of %s", (backend, list) => {
    const own = ["drivers", "gateway", "derived"].includes(backend);
    const unexplained = list
      .split(/\s+/)
      .map((word) => word.replace("|", " "))
      .filter(
        (word) =>
          describeReason(word, { catalog: sandboxReasons, ...(!own && { backend }) }).found === "unknown",
      );
    expect(unexplained).toEqual([]);
  });

  it("lists by contract the very names that its entries state", () => {
    const since = (contract: number) =>
      Object.entries(sandboxReasons.reasons)
        .filter(([, entry]) => (entry.since ?? 1) <= contract)
        .map(([name]) => name)
        .sort();
    expect(Object.keys(ReasonV1).sort()).toEqual(since(1));
    expect(Object.keys(ReasonV2).sort()).toEqual(since(2));
    expect(Object.entries(ReasonV2).every(([key, value]) => key === value)).toBe(true);
    expect(Object.isFrozen(ReasonV1) && Object.isFrozen(ReasonV2)).toBe(true);
  });

  it("has a reason for every condition type", () => {
    const used = new Set(Object.values(sandboxReasons.reasons).flatMap(({ types }) => types));
    expect(Object.keys(sandboxReasons.types).filter((type) => !used.has(type))).toEqual([]);
  });

  it("states a general reason for a mismatch at the preparation deadline and for none of the restart scan", () => {
    const mismatches = sandboxReasons.emits.filter(
      ({ reason, type }) => reason === "IsolationBackendMismatch" && type === "Ready",
    );
    expect(mismatches).toEqual([
      {
        operation: "prepare",
        cause: "isolation-backend-mismatch",
        type: "Ready",
        reason: "IsolationBackendMismatch",
        generalReasons: ["ImagePreparationTimedOut"],
      },
      {
        operation: "restart",
        cause: "isolation-backend-mismatch",
        type: "Ready",
        reason: "IsolationBackendMismatch",
      },
    ]);
  });

  it("says where each reason is published, and on each of its types only if at all", () => {
    const published = new Set(sandboxReasons.emits.map(({ reason }) => reason));
    expect(Object.keys(sandboxReasons.reasons).filter((reason) => !published.has(reason))).toEqual([]);
  });

  it("tells the operator what to do about everything that does not pass by itself", () => {
    const silent = Object.entries(sandboxReasons.reasons).filter(
      ([, entry]) => entry.class === "terminal" && !entry.action,
    );
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it("maps no word of a backend to two reasons", () => {
    const claimed = new Map<string, string>();
    for (const [reason, { sources = [] }] of Object.entries(sandboxReasons.reasons)) {
      for (const { backend, raw } of sources) {
        for (const word of raw) {
          expect(claimed.get(`${backend} ${word.toLowerCase()}`) ?? reason).toBe(reason);
          claimed.set(`${backend} ${word.toLowerCase()}`, reason);
        }
      }
    }
  });
});
