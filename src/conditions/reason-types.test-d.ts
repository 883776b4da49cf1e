import {
  type Condition,
  defineReasonCatalog,
  extendCatalog,
  type KnownReason,
  type Reason,
  type ReasonClass,
  type ReasonOf,
  ReasonV1,
  ReasonV2,
  sandboxReasons,
} from "./index.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <Claim extends true>(): Claim | undefined => undefined;

// The union comes out of the definition, and the built-in one is the list of names.
holds<Same<ReasonOf<typeof sandboxReasons>, KnownReason>>();
holds<Same<typeof ReasonV2.IsolationBackendMismatch, "IsolationBackendMismatch">>();
holds<Same<Exclude<ReasonV2, ReasonV1>, "IsolationBackendMismatch" | "IsolationBackendMatches">>();

// A reader's reason is open; a writer's is closed.
export const fromPeer: Reason = "FromTheFuture";
export const written: KnownReason = ReasonV1.Starting;
// @ts-expect-error a writer cannot invent a reason
export const invented: KnownReason = "FromTheFuture";
// @ts-expect-error contract 1 does not have it
export const early = ReasonV1.IsolationBackendMismatch;
// @ts-expect-error the list is frozen
ReasonV1.Starting = "Starting";

const type = { polarity: "positive", presence: "always", summary: "s" } as const;
const own = defineReasonCatalog({
  name: "own",
  contract: 1,
  types: { Ready: type },
  reasons: {
    Slow: { types: ["Ready"], class: "transient", summary: "s" },
    Broken: { types: ["Ready"], class: "terminal", summary: "s", replacedBy: "Slow" },
  },
  retired: {},
});
holds<Same<ReasonOf<typeof own>, "Slow" | "Broken">>();

/** Every reason has its arm; a new one fails to compile here. */
export function exhaustive(reason: ReasonOf<typeof own>): number {
  switch (reason) {
    case "Slow":
      return 1;
    case "Broken":
      return 2;
    default:
      return reason satisfies never;
  }
}

export function forgetful(reason: ReasonOf<typeof own>): number {
  switch (reason) {
    case "Slow":
      return 1;
    default:
      // @ts-expect-error Broken has no arm
      return reason satisfies never;
  }
}

/** Every reason of the newest contract has its arm, as a client writes it; one that is added fails to compile here. */
export function classOf(reason: KnownReason): ReasonClass {
  switch (reason) {
    case "DependenciesReady":
    case "Stopped":
    case "Suspended":
    case "NotSuspended":
    case "BackendEmpty":
    case "Deleted":
    case "MainProcessCompleted":
    case "ConfigurationAccepted":
    case "IsolationBackendMatches":
    case "BootstrapSucceeded":
    case "BootstrapCancelled":
    case "BackendReady":
    case "Scheduled":
    case "ContainerRunning":
    case "ContainerPaused":
    case "ContainerStopped":
    case "HealthCheckPassed":
    case "ComputeStopped":
      return "informational";
    case "DependenciesNotReady":
    case "SupervisorNotConnected":
    case "Starting":
    case "Stopping":
    case "Resumed":
    case "Deleting":
    case "MainProcessExitDraining":
    case "MainProcessRestartScheduled":
    case "SandboxRestarting":
    case "ClaimPending":
    case "ConfigurationPending":
    case "ProvisioningDeadlineElapsed":
    case "Preparation":
    case "Admission":
    case "BootstrapPending":
    case "BootstrapInProgress":
    case "ContainerCreated":
    case "ContainerStarting":
    case "ContainerRemoving":
    case "HealthCheckStarting":
      return "waiting";
    case "Expired":
    case "MainProcessFailed":
    case "MainProcessExited":
    case "StartFailed":
    case "BackendResourceMissing":
    case "ComputeResourceMissing":
    case "OwnershipConflict":
    case "ClaimInvalid":
    case "ResourceAdmissionDenied":
    case "ImagePreparationTimedOut":
    case "ProvisioningTimedOut":
    case "IsolationBackendMismatch":
    case "BootstrapFailed":
    case "BootstrapAttemptsExhausted":
    case "BootstrapDeadlineExceeded":
    case "ImageInvalid":
    case "ContainerCreateFailed":
    case "ContainerExited":
    case "ContainerDead":
    case "RemovalFailed":
    case "SandboxTokenWriteFailed":
    case "WorkspaceValidationFailed":
    case "ProcessExited":
    case "Killed":
    case "OutOfMemory":
    case "Evicted":
    case "Preempted":
    case "NodeShutdown":
    case "DeadlineExceeded":
    case "AdmissionRejected":
    case "ProvisioningFailed":
    case "GuestPanicked":
    case "WatchdogFired":
    case "VmmExited":
    case "VmmInternalError":
    case "VmmStartFailed":
      return "terminal";
    case "MainProcessRestartBackoff":
    case "SandboxRestartFailed":
    case "ComputeStateUnknown":
    case "Unreadable":
    case "ReconcilerError":
    case "ClaimSourceMissing":
    case "ConfigurationInvalid":
    case "BackendError":
    case "BackendUnreachable":
    case "BackendOperationFailed":
    case "InspectFailed":
    case "Unschedulable":
    case "ImagePullFailed":
    case "ContainerConfigInvalid":
    case "ContainerStartFailed":
    case "ContainerRestarting":
    case "ContainerRuntimeRestart":
    case "HealthCheckFailed":
    case "CrashLoop":
    case "InitFailed":
    case "NodeLost":
    case "ProcessPollFailed":
    case "GuestIOError":
      return "transient";
    default:
      return reason satisfies never;
  }
}

/** Without a default, a forgotten reason falls out of the function, which the compiler sees as well. */
// @ts-expect-error all but one have no arm
export function forgets(reason: KnownReason): ReasonClass {
  // eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check -- what the compiler says by itself is asked here
  switch (reason) {
    case "Evicted":
      return "terminal";
  }
}

export function forgetsOne(
  reason: "Evicted" | "NodeLost" | Exclude<KnownReason, "Evicted" | "NodeLost">,
): string {
  if (reason !== "Evicted" && reason !== "NodeLost") return "another";
  switch (reason) {
    case "Evicted":
      return "gone";
    default:
      // @ts-expect-error NodeLost has no arm
      return reason satisfies never;
  }
}

/** A reader keeps a default: what a newer peer says is a reason too, and none of the known ones gets lost in it. */
export function read(reason: Reason): string {
  switch (reason) {
    case ReasonV2.IsolationBackendMismatch:
      return "restore the selection";
    // @ts-expect-error a number is no reason
    case 5:
      return "never";
    default:
      return reason satisfies string;
  }
}

declare const stored: Condition;
export const asStored: Reason = stored.reason;
export const asTexts: readonly string[] = [fromPeer];
export const newer: readonly Reason[] = [
  ReasonV1.Starting,
  ReasonV2.IsolationBackendMismatch,
  "FromTheFuture",
];
export const ofOlder: ReasonV2 = ReasonV1.Starting;
// @ts-expect-error what a peer says may be none that is known
export const closed: readonly KnownReason[] = [asStored];

defineReasonCatalog({
  name: "wrong",
  contract: 1,
  types: { Ready: type },
  // @ts-expect-error the type is misspelt
  reasons: { Slow: { types: ["Raedy"], class: "transient", summary: "s" } },
});
defineReasonCatalog({
  name: "wrong",
  contract: 1,
  types: { Ready: type },
  // @ts-expect-error there is no such class
  reasons: { Slow: { types: ["Ready"], class: "slow", summary: "s" } },
});
defineReasonCatalog({
  name: "wrong",
  contract: 1,
  types: { Ready: type },
  reasons: { Slow: { types: ["Ready"], class: "transient", summary: "s" } },
  // @ts-expect-error there is no such reason
  emits: [{ operation: "o", cause: "c", type: "Ready", reason: "Slwo" }],
});

const extended = extendCatalog(sandboxReasons, {
  prefix: "Acme",
  reasons: { AcmeLicenseMissing: { types: ["Ready"], class: "terminal", summary: "s" } },
  emits: [
    {
      operation: "o",
      cause: "c",
      type: "Ready",
      reason: "AcmeLicenseMissing",
      generalReasons: ["StartFailed"],
    },
  ],
});
holds<Same<ReasonOf<typeof extended>, KnownReason | "AcmeLicenseMissing">>();
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  // @ts-expect-error the prefix is missing
  reasons: { LicenseMissing: { types: ["Ready"], class: "terminal", summary: "s" } },
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  types: { AcmeLicensed: type },
  reasons: {
    AcmeOld: { types: ["Ready", "AcmeLicensed"], class: "terminal", summary: "s", replacedBy: "StartFailed" },
    AcmeNew: { types: ["AcmeLicensed"], class: "terminal", summary: "s", refines: ["AcmeOld"] },
  },
  retired: { AcmeGone: { retiredIn: 2 } },
  emits: [
    { operation: "o", cause: "c", type: "AcmeLicensed", reason: "AcmeNew", generalReasons: ["AcmeGone"] },
  ],
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  // @ts-expect-error the type is misspelt
  reasons: { AcmeA: { types: ["Raedy"], class: "terminal", summary: "s" } },
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  // @ts-expect-error it is replaced by nothing known
  reasons: { AcmeA: { types: ["Ready"], class: "terminal", summary: "s", replacedBy: "StratFailed" } },
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  // @ts-expect-error it refines nothing known
  reasons: { AcmeA: { types: ["Ready"], class: "terminal", summary: "s", refines: ["StratFailed"] } },
});
extendCatalog(sandboxReasons, {
  prefix: "Acme",
  reasons: { AcmeA: { types: ["Ready"], class: "terminal", summary: "s" } },
  // @ts-expect-error there is no such condition type
  emits: [{ operation: "o", cause: "c", type: "Raedy", reason: "AcmeA" }],
});
