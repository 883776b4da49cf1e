import {
  current,
  findCondition,
  isTrue,
  type BackendCondition,
  type ConditionFinding,
} from "./backend-conditions.js";
import { at, flagOf, integerOf, textOf, wordOf, type JsonObject } from "./json.js";
import { instanceKeyOf, isEarlierRun, type ObserveOptions } from "./options.js";
import { CLOCK_SKEW_MS, KUBERNETES_PRECISION_MS } from "./pod-view.js";
import type { SandboxPods } from "./sandbox-pods.js";

/**
 * Options of the observer of agent-sandbox resources.
 *
 * @public
 */
export interface SandboxResourceOptions extends ObserveOptions {
  /** Annotation by which the driver marks a bootstrap under way. Default `openshell.ai/sandbox-runtime-bootstrapping`. */
  readonly bootstrapKey?: string | undefined;
}

const BOOTSTRAP_KEY = "openshell.ai/sandbox-runtime-bootstrapping";

/** What an agent-sandbox resource says, read for deciding. */
export interface SandboxView {
  readonly generation: number | null;
  readonly instanceId: string | null;
  readonly deleting: boolean;
  /** The specification asks for nothing to run; `null` for a mode this version does not know. */
  readonly suspend: boolean | null;
  readonly bootstrapping: boolean;
  readonly pods: SandboxPods;
  readonly readyFinding: ConditionFinding;
  readonly suspendedFinding: ConditionFinding;
  readonly ready: BackendCondition | null;
  readonly suspended: BackendCondition | null;
  readonly finished: BackendCondition | null;
  readonly scheduled: BackendCondition | null;
}

export function sandboxView(
  sandbox: JsonObject,
  pods: SandboxPods,
  options: SandboxResourceOptions,
): SandboxView {
  const generation = integerOf(at(sandbox, "metadata", "generation"));
  const list = at(sandbox, "status", "conditions");
  const ready = findCondition(list, "ready", generation);
  const suspended = findCondition(list, "suspended", generation);
  const finished = findCondition(list, "finished", generation);
  const key = instanceKeyOf(options);
  return {
    generation,
    instanceId:
      textOf(at(sandbox, "metadata", "annotations", key)) ?? textOf(at(sandbox, "metadata", "labels", key)),
    deleting: textOf(at(sandbox, "metadata", "deletionTimestamp")) !== null,
    suspend: suspendIntent(sandbox),
    bootstrapping: isMarked(at(sandbox, "metadata", "annotations", options.bootstrapKey ?? BOOTSTRAP_KEY)),
    pods,
    readyFinding: ready,
    suspendedFinding: suspended,
    ready: current(ready),
    suspended: current(suspended),
    finished: isTrue(finished) ? ofThisRun(current(finished), options) : null,
    scheduled: current(findCondition(list, "podscheduled", generation)),
  };
}

/**
 * What was said before this start was asked for is about the run before it. A generation only tells that the
 * specification is the present one: a run may be started again without a change of that, so that what is of the present
 * generation is given as much as two clocks may differ by. The instance on the resource does not tell: the next run's is
 * written there before anything is said of that run.
 */
function ofThisRun(condition: BackendCondition | null, options: ObserveOptions): BackendCondition | null {
  if (condition === null || condition.at === null) return condition;
  if (condition.numbered && options.run?.confirmed === true) return condition;
  const said = condition.numbered ? condition.at + CLOCK_SKEW_MS : condition.at;
  return isEarlierRun(options, said, KUBERNETES_PRECISION_MS) ? null : condition;
}

/** v1beta1 has a mode, v1alpha1 a replica count whose absence means 1. The status count is never evidence. */
function suspendIntent(sandbox: JsonObject): boolean | null {
  const mode = at(sandbox, "spec", "operatingMode");
  const replicas = at(sandbox, "spec", "replicas");
  const alpha = wordOf(sandbox["apiVersion"]).endsWith("/v1alpha1");
  if (typeof mode === "string" && mode !== "" && !(alpha && replicas !== undefined)) {
    const word = wordOf(mode);
    return word === "suspended" ? true : word === "running" ? false : null;
  }
  return replicas === 0;
}

function isMarked(value: unknown): boolean {
  if (value === undefined || value === null || flagOf(value) === false) return false;
  return wordOf(value) !== "false";
}
