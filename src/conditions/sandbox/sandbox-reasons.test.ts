import { describe, expect, it } from "vitest";
import {
  compareCatalogs,
  defineReasonCatalog,
  describeReason,
  type KnownReason,
  type ReasonCatalog,
  type ReasonEmission,
  ReasonV1,
  ReasonV2,
  sandboxReasons,
} from "../index.js";

/** Every word of the reference tables, by what it means: controllers, pods, engines, virtual machines. */
const meanings: Record<string, Partial<Record<KnownReason, readonly string[]>>> = {
  "agent-sandbox": {
    DependenciesReady: ["DependenciesReady"],
    DependenciesNotReady: ["DependenciesNotReady"],
    ReconcilerError: ["ReconcilerError"],
    Expired: ["SandboxExpired", "ClaimExpired"],
    MainProcessCompleted: ["PodSucceeded"],
    MainProcessFailed: ["PodFailed"],
    Suspended: ["SandboxSuspended", "PodTerminated"],
    Stopping: ["PodNotTerminated", "PodTerminating"],
    NotSuspended: ["NotSuspended"],
    OwnershipConflict: ["PodNotOwned", "MultiplePods"],
    ComputeStateUnknown: ["PodStateUnknown", "PodSchedulingUnknown"],
    Scheduled: ["PodScheduled"],
    ClaimSourceMissing: ["TemplateNotFound", "WarmPoolNotFound"],
    ClaimPending: ["AdoptionConflict", "SandboxCreatePending", "SandboxMissing", "SandboxNotReady"],
    ClaimInvalid: ["InvalidMetadata", "EnvVarsInjectionRejected", "VolumeClaimTemplatesError"],
  },
  kubernetes: {
    ContainerStarting: ["ContainerCreating", "PodInitializing"],
    ImagePullFailed: [
      "ErrImagePull",
      "ImagePullBackOff",
      "ImageInspectError",
      "RegistryUnavailable",
      "ErrImageNeverPull",
    ],
    ImageInvalid: ["InvalidImageName"],
    ContainerConfigInvalid: ["CreateContainerConfigError"],
    ContainerStartFailed: [
      "CreateContainerError",
      "RunContainerError",
      "CreatePodSandboxError",
      "ConfigPodSandboxError",
      "StartError",
    ],
    CrashLoop: ["CrashLoopBackOff"],
    DependenciesNotReady: ["ContainersNotReady", "ReadinessGatesNotReady"],
    MainProcessCompleted: ["Completed"],
    ProcessExited: ["Error", "ContainerStatusUnknown", "Unknown"],
    OutOfMemory: ["OOMKilled"],
    Evicted: ["Evicted", "EvictionByEvictionAPI", "TerminationByKubelet"],
    Preempted: ["Preempting", "PreemptionByScheduler"],
    NodeShutdown: ["Terminated", "Shutdown", "NodeShutdown"],
    DeadlineExceeded: ["DeadlineExceeded"],
    AdmissionRejected: ["OutOfcpu", "OutOfmemory", "OutOfpods", "NodeAffinity", "UnexpectedAdmissionError"],
    NodeLost: ["NodeLost", "DeletionByTaintManager", "DeletionByPodGC"],
    BackendOperationFailed: [
      "KillContainerError",
      "KillPodSandboxError",
      "ResizePodInPlaceError",
      "RemoveContainerError",
    ],
    Unschedulable: ["Unschedulable", "SchedulingGated"],
  },
  docker: {
    ContainerCreated: ["created"],
    ContainerRunning: ["running"],
    ContainerPaused: ["paused"],
    ContainerRestarting: ["restarting"],
    Deleting: ["removing"],
    ContainerExited: ["exited"],
    ContainerDead: ["dead"],
    HealthCheckStarting: ["starting"],
    HealthCheckPassed: ["healthy"],
    HealthCheckFailed: ["unhealthy"],
  },
  podman: {
    ContainerCreated: ["created", "initialized"],
    ContainerRunning: ["running"],
    ContainerPaused: ["paused"],
    Stopping: ["stopping"],
    ContainerStopped: ["stopped"],
    ContainerExited: ["exited"],
    ContainerRemoving: ["removing"],
    ComputeStateUnknown: ["unknown", "bad state"],
    HealthCheckPassed: ["healthy"],
    HealthCheckFailed: ["unhealthy"],
    HealthCheckStarting: ["starting"],
    OutOfMemory: ["OOMKilled"],
  },
  qemu: {
    BackendReady: ["running"],
    Starting: ["prelaunch", "preconfig", "inmigrate", "restore-vm"],
    Suspended: ["paused", "suspended"],
    GuestIOError: ["io-error"],
    WatchdogFired: ["watchdog"],
    GuestPanicked: ["guest-panicked", "guest-panic"],
    VmmInternalError: ["internal-error", "host-error"],
    MainProcessCompleted: ["shutdown", "guest-shutdown", "guest-reset"],
    ComputeStateUnknown: [
      "save-vm",
      "finish-migrate",
      "colo",
      "postmigrate",
      "debug",
      "subsystem-reset",
      "snapshot-load",
      "none",
    ],
    Killed: ["host-qmp-quit", "host-qmp-system-reset", "host-signal", "host-ui"],
  },
  libvirt: {
    ComputeStateUnknown: ["0", "3/2", "3/12", "3/13", "5/4"],
    BackendReady: ["1", "2"],
    Suspended: ["3/1", "3/7", "3/9"],
    GuestIOError: ["3/5"],
    WatchdogFired: ["3/6"],
    Stopping: ["3/8", "4"],
    GuestPanicked: ["3/10"],
    Starting: ["3/11"],
    Stopped: ["5/1", "5/2", "5/5", "5/7"],
    ProcessExited: ["5/3", "6"],
    VmmStartFailed: ["5/6"],
  },
  firecracker: {
    Starting: ["Not started", "Uninitialized", "Starting"],
    BackendReady: ["Running"],
    Suspended: ["Paused"],
    Stopping: ["Halting"],
    MainProcessCompleted: ["Halted"],
  },
  "cloud-hypervisor": {
    Starting: ["Created"],
    BackendReady: ["Running"],
    Suspended: ["Paused"],
    MainProcessCompleted: ["Shutdown"],
  },
};

/** The words that gateways and drivers publish: reasons of their own. */
const published: Record<string, string> = {
  drivers: `BackendReady Starting ContainerRestarting Deleting ContainerPaused ContainerExited ContainerDead
    ContainerCreateFailed ImagePullFailed SandboxTokenWriteFailed ContainerStartFailed ContainerRunning ContainerStarting
    ContainerCreated ContainerStopped ContainerRemoving HealthCheckPassed HealthCheckFailed HealthCheckStarting
    InspectFailed ContainerRuntimeRestart WorkspaceValidationFailed ComputeStopped ProcessExited
    ProcessPollFailed ProvisioningFailed`,
  gateway: `DependenciesReady SupervisorNotConnected DependenciesNotReady Stopping Stopped Starting MainProcessExited
    MainProcessCompleted MainProcessFailed MainProcessExitDraining MainProcessRestartScheduled MainProcessRestartBackoff
    SandboxRestarting SandboxRestartFailed BackendResourceMissing StartFailed ComputeResourceMissing Resumed
    ResourceAdmissionDenied ConfigurationPending ConfigurationInvalid ConfigurationAccepted ProvisioningDeadlineElapsed
    ProvisioningTimedOut ImagePreparationTimedOut IsolationBackendMismatch`,
  derived: `BackendEmpty OwnershipConflict NodeLost Expired CrashLoop InitFailed ImageInvalid ContainerConfigInvalid
    OutOfMemory Killed Evicted Preempted NodeShutdown DeadlineExceeded AdmissionRejected Suspended RemovalFailed
    GuestIOError WatchdogFired GuestPanicked VmmInternalError VmmStartFailed Deleted Unreadable`,
};

const without = (table: object, ...names: string[]) =>
  Object.fromEntries(Object.entries(table).filter(([name]) => !names.includes(name)));

describe("sandboxReasons", () => {
  it("is a catalog that defineReasonCatalog accepts", () => {
    const catalog = defineReasonCatalog(sandboxReasons as never);
    expect(catalog).toEqual(sandboxReasons);
  });

  it("cannot be changed by one of its users", () => {
    expect(Object.isFrozen(sandboxReasons.reasons.Starting.types)).toBe(true);
  });

  it.each(Object.entries(meanings))("says what every word of %s means", (backend, groups) => {
    for (const [name, list] of Object.entries(groups)) {
      for (const word of list)
        expect([word, describeReason(word, { catalog: sandboxReasons, backend }).name]).toEqual([word, name]);
    }
  });

  it.each(Object.entries(published))("knows every reason of %s by its own name", (_publisher, list) => {
    for (const word of list.split(/\s+/))
      expect([word, describeReason(word, { catalog: sandboxReasons }).name]).toEqual([word, word]);
  });

  it("takes a driver's own two words for what they mean", () => {
    const meaning = (word: string) =>
      describeReason(word, { catalog: sandboxReasons, backend: "podman" }).name;
    expect(meaning("Unknown")).toBe("ComputeStateUnknown");
    expect(meaning("OOMKilled")).toBe("OutOfMemory");
  });

  it("explains the backends' words that are published where no reason of ours says more", () => {
    const meaning = (word: string) => describeReason(word, { catalog: sandboxReasons }).name;
    expect(meaning("PodInitializing")).toBe("ContainerStarting");
    expect(meaning("Uninitialized")).toBe("Starting");
  });

  it("knows which versions print a word", () => {
    const versions = (reason: KnownReason, word: string) =>
      (sandboxReasons.reasons[reason].sources ?? [])
        .filter(({ raw }) => raw.includes(word))
        .map((source) => source.versions);
    expect(versions("NodeShutdown", "Shutdown")).toEqual(["<1.22"]);
    expect(versions("NodeShutdown", "Terminated")).toEqual(["<1.22", ">=1.22"]);
    expect(versions("NodeShutdown", "NodeShutdown")).toEqual([">=1.22"]);
    expect(versions("MainProcessCompleted", "PodSucceeded")).toEqual([">=0.4.6"]);
    expect(versions("MainProcessFailed", "PodFailed")).toEqual([">=0.4.6"]);
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
        since: 2,
      },
      {
        operation: "restart",
        cause: "isolation-backend-mismatch",
        type: "Ready",
        reason: "IsolationBackendMismatch",
        since: 2,
      },
    ]);
  });

  it("would not take the change of seed 003, whichever reason of a finding it replaces", () => {
    const finding = ({ operation, cause, type }: ReasonEmission) =>
      operation === "prepare" && cause === "isolation-backend-mismatch" && type === "Ready";
    const { types, reasons } = sandboxReasons;
    const emits = sandboxReasons.emits.filter(({ since = 1 }) => since === 1);
    const contract1: ReasonCatalog = defineReasonCatalog({
      ...sandboxReasons,
      contract: 1,
      types: without(types, "IsolationBackendMatched"),
      reasons: without(reasons, "IsolationBackendMismatch", "IsolationBackendMatches"),
      emits,
    });
    expect(contract1.emits.filter(finding).map(({ reason }) => reason)).toEqual(["ImagePreparationTimedOut"]);
    const pullRequest = (catalog: ReasonCatalog): ReasonCatalog => ({
      ...sandboxReasons,
      contract: catalog.contract,
      emits: catalog.emits.map((each) => {
        if (!finding(each)) return each;
        return { ...each, generalReasons: undefined, reason: "IsolationBackendMismatch" };
      }),
    });
    for (const catalog of [contract1, sandboxReasons]) {
      expect(compareCatalogs(catalog, pullRequest(catalog))).toContainEqual(
        expect.objectContaining({
          level: "breaking",
          kind: "emission-reason",
          subject: "prepare/isolation-backend-mismatch/Ready",
        }),
      );
    }
    // What contract 2 did instead: a reader of contract 1 sees what it saw.
    const breaks = compareCatalogs(contract1, sandboxReasons).filter(({ level }) => level === "breaking");
    expect(breaks).toEqual([]);
  });

  it.each(["ImagePreparationTimedOut", "ProvisioningTimedOut", "StartFailed", "OwnershipConflict"])(
    "names the findings that %s covers, so that another reason for one of them is seen as such",
    (reason) => {
      const covered = sandboxReasons.emits.filter((each) => each.reason === reason && each.type === "Ready");
      expect(covered.length).toBeGreaterThan(1);
      const [first] = covered;
      const emits = sandboxReasons.emits.map((each) =>
        each === first ? { ...each, reason: "InspectFailed" } : each,
      );
      expect(compareCatalogs(sandboxReasons, { ...sandboxReasons, emits })).toContainEqual(
        expect.objectContaining({ level: "breaking", kind: "emission-reason" }),
      );
    },
  );

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
