import { messageWith } from "./backend-message.js";
import { present, type Observation, type ObservationDraft } from "../observation.js";
import {
  conditionsOf,
  findCondition,
  isTrue,
  type BackendCondition,
  type ConditionFinding,
} from "./backend-conditions.js";
import { fail } from "./failure.js";
import { integerOf, member, flagOf, textOf, wordOf } from "./json.js";
import { notRead, oneObject, type WantedObject } from "./one-object.js";
import {
  dropOtherRun,
  isForeignInstance,
  observedAtOf,
  withoutObject,
  type ObserveOptions,
} from "./options.js";

/**
 * OpenShell's DriverSandboxStatus, with the facts that its protocol lacks where the driver knows them.
 *
 * @public
 */
export interface OpenShellStatusInput {
  /** The message as JSON; `null` when the sandbox was reported without a status. */
  readonly status: unknown;
  /** Asked-for replicas of the backend object. */
  readonly replicas?: number | null | undefined;
  /** Listed pods of the backend object. */
  readonly podCount?: number | null | undefined;
  /** Whether a bootstrap is under way. */
  readonly bootstrapping?: boolean | null | undefined;
  /** The status is known to be of the generation before the present one. */
  readonly previousGeneration?: boolean | undefined;
  /** What the look-up failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

/** The reasons that OpenShell's gateway takes for waiting, in lower case. Every other one is terminal. */
const TRANSIENT: ReadonlySet<string> = new Set([
  "reconcilererror",
  "dependenciesnotready",
  "supervisornotconnected",
  "starting",
  "containerstarting",
  "containercreated",
  "healthcheckstarting",
  "inspectfailed",
]);

/** Transient reasons of a workload that executes already. */
const EXECUTING: ReadonlySet<string> = new Set([
  "supervisornotconnected",
  "containerstarting",
  "healthcheckstarting",
]);

/** Reasons by which a driver says that the run is over. */
const ENDED: ReadonlySet<string> = new Set([
  "containerexited",
  "containerstopped",
  "containerdead",
  "processexited",
  "computestopped",
  "sandboxstopped",
  "oomkilled",
  "podfailed",
  "podsucceeded",
]);

/** What confirms a stop, in whichever condition it stands. */
const STOP_CONFIRMED: ReadonlySet<string> = new Set(["containerexited", "containerstopped"]);

/** Ready=False reasons that only say that a suspension is on. */
const SUSPENDING: ReadonlySet<string> = new Set(["sandboxsuspended", "sandboxstopped"]);

/** Every field of the message may be left out, and none is called `kind`. */
const STATUS: WantedObject = {
  said: "status must be one DriverSandboxStatus",
  isOne: (object) => !("kind" in object),
};

/**
 * The facts in an OpenShell driver's status. Total.
 *
 * It fails closed as its protocol does: any reason beside the eight that mean waiting, an empty one included, is
 * terminal. A true `Ready` beats a `Suspended` that was never taken back, but not a backend that provably has nothing.
 *
 * Source: NVIDIA/OpenShell's derivation, and #2933.
 *
 * @example
 * ```ts
 * import { observeOpenShellStatus } from "slipway/phase";
 *
 * const status = { conditions: [{ type: "Ready", status: "False", reason: "Flux" }] };
 * observeOpenShellStatus({ status }).failureClass; // => "terminal"
 * ```
 *
 * @public
 */
export function observeOpenShellStatus(
  input: OpenShellStatusInput,
  options: ObserveOptions = {},
): Observation {
  const error = member(input, "error");
  if (error !== undefined && error !== null) return withoutObject(error, options);
  const rawStatus = member(input, "status");
  // A status of null is a sandbox that was reported without one.
  const status = rawStatus === null ? null : oneObject(rawStatus, STATUS);
  if (typeof status === "string") return notRead(status, options);
  const draft = present(observedAtOf(options));
  draft.bootstrapping = flagOf(member(input, "bootstrapping"));
  if (status === null) {
    draft.deleting = null;
    draft.workload = "unknown";
    draft.terminating = null;
    return draft;
  }
  draft.instanceId = textOf(status["main_process_instance_id"]) ?? textOf(status["mainProcessInstanceId"]);
  draft.conditions = conditionsOf(status["conditions"]);
  draft.deleting = status["deleting"] === true;
  draft.workload = "unknown";
  decide(draft, status["conditions"], input);
  draft.message = messageWith(draft.backendReason, draft.conditions);
  if (draft.deleting) draft.terminating = true;
  if (member(input, "previousGeneration") === true || isForeignInstance(options, draft.instanceId))
    return dropOtherRun(draft);
  return draft;
}

function decide(draft: ObservationDraft, conditions: unknown, input: OpenShellStatusInput): void {
  const readyFinding = findCondition(conditions, "ready", null);
  const suspended = findCondition(conditions, "suspended", null);
  const stopped = findCondition(conditions, "stopped", null);
  if (isTrue(findCondition(conditions, "bootstrapping", null))) draft.bootstrapping = true;
  const replicas = integerOf(member(input, "replicas"));
  const pods = integerOf(member(input, "podCount"));
  const ready = one(readyFinding);
  draft.backendReason = textOf(ready?.reason);
  if (pods !== null) draft.workload = pods === 0 ? "absent" : "present";
  if (replicas === 0 && pods === 0) {
    empty(draft);
    return;
  }
  if (ready?.status === "true") {
    executing(draft);
    return;
  }
  if (isTrue(suspended) || isTrue(stopped)) {
    draft.backendReason = textOf(one(isTrue(suspended) ? suspended : stopped)?.reason) ?? draft.backendReason;
    draft.bootstrapping ??= false;
    draft.workload = "absent";
    empty(draft);
    return;
  }
  if (one(suspended)?.status === "false" && suspending(draft, one(suspended))) return;
  notReady(draft, readyFinding);
  // Only where nothing else says that it executes, or that it cannot be told.
  if (draft.running === false && draft.completed !== true && draft.conditions.some(confirmsStop))
    draft.workload = "absent";
}

function confirmsStop({ status, reason }: Observation["conditions"][number]): boolean {
  return wordOf(status) === "false" && STOP_CONFIRMED.has(wordOf(reason));
}

function one(finding: ConditionFinding): BackendCondition | null {
  return finding === "contradiction" ? null : finding;
}

function empty(draft: ObservationDraft): void {
  unready(draft, false);
  draft.suspended = true;
}

function unready(draft: ObservationDraft, running: boolean): void {
  draft.running = running;
  draft.ready = false;
  draft.readiness = "signal";
}

function executing(draft: ObservationDraft): void {
  draft.workload = "present";
  draft.running = true;
  draft.ready = true;
  draft.readiness = "signal";
}

/** Suspension under way or blocked; `false` when the condition only says that none is on. */
function suspending(draft: ObservationDraft, suspended: BackendCondition | null): boolean {
  const isForeign = suspended?.word === "podnotowned";
  if (!isForeign && suspended?.word !== "podterminating" && suspended?.word !== "podnotterminated")
    return false;
  unready(draft, !isForeign);
  draft.backendReason = textOf(suspended.reason);
  if (isForeign) fail(draft, "OwnershipConflict");
  else draft.terminating = true;
  return true;
}

function notReady(draft: ObservationDraft, finding: ConditionFinding): void {
  if (finding === "contradiction") {
    draft.behind = true;
    return;
  }
  if (finding === null) {
    // A status without Ready is still on its way, not unknown.
    draft.running = false;
    return;
  }
  if (finding.status !== "false") return;
  unready(draft, EXECUTING.has(finding.word));
  if (TRANSIENT.has(finding.word)) {
    fail(draft, finding.word === "reconcilererror" ? "BackendError" : null, "transient");
    return;
  }
  if (SUSPENDING.has(finding.word)) return;
  draft.completed = ENDED.has(finding.word);
  if (finding.word === "podsucceeded") draft.endedBy = "guest";
  else fail(draft, CATALOG.get(finding.word) ?? finding.reason);
}

/** Words of other vocabularies that OpenShell's drivers pass through. Its own words stand as they are. */
const CATALOG: ReadonlyMap<string, string> = new Map([
  ["", "BackendError"],
  ["oomkilled", "OutOfMemory"],
  ["errimagepull", "ImagePullFailed"],
  ["imagepullbackoff", "ImagePullFailed"],
  ["invalidimagename", "ImageInvalid"],
  ["crashloopbackoff", "CrashLoop"],
  ["sandboxexpired", "Expired"],
  ["multiplepods", "OwnershipConflict"],
]);
