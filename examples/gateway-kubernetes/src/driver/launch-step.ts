import { PermanentDriverError, type LaunchRequest } from "@slipway-examples/gateway-core";
import { OvertakenError } from "../api/api-error.js";
import { nameOf, textAt, uidOf, type Plain } from "../api/plain.js";
import { BOOTSTRAP_KEY, isNewerStart, SANDBOX_LABEL, START_KEY } from "../resource/names.js";
import { wantsRun, type SandboxVersion } from "../resource/sandbox-api.js";
import { instanceOf, isOwnedBy, isTerminating, podProgress } from "./owned-pods.js";

/** What was read before a step of a start is decided. */
export interface LaunchView {
  readonly version: SandboxVersion;
  readonly sandbox: Plain | null;
  /** All pods that carry the sandbox's mark, whoever owns them. */
  readonly pods: readonly Plain[];
  /** This call has marked the resource as its own start before. */
  readonly begun: boolean;
}

export type LaunchStep =
  /** Make the resource, suspended and marked. */
  | { readonly do: "create" }
  /** Suspend the resource, and write this start on it. */
  | { readonly do: "begin" }
  /** Mark a start that goes on by itself. */
  | { readonly do: "mark" }
  /** Another run's pod is there: it has to go first. */
  | { readonly do: "suspend" }
  /** Put the token in place and let it run. */
  | { readonly do: "run" }
  | { readonly do: "wait"; readonly pod: Plain | null }
  /** Take the mark off: the main container began. */
  | { readonly do: "finish"; readonly pod: Plain }
  | { readonly do: "nothing"; readonly pod: Plain }
  | { readonly do: "refuse"; readonly error: Error };

/**
 * The next step of a start, from what is there now and not from what was done before: whoever died at any point, or
 * wrote in between, the next look finds the way on. Steps write with the version that they were decided on.
 */
export function nextLaunchStep(view: LaunchView, { sandbox: ref, instance }: LaunchRequest): LaunchStep {
  const { sandbox, version, begun } = view;
  if (sandbox === null) return begun ? refuse("the resource was removed") : { do: "create" };
  if (textAt(sandbox, "metadata", "labels", SANDBOX_LABEL) !== ref.id) return foreign(sandbox);
  if (textAt(sandbox, "metadata", "deletionTimestamp") !== null)
    return refuse("the resource is being removed");
  if (isNewerStart(textAt(sandbox, "metadata", "annotations", START_KEY), instance)) {
    return refuse("a newer start has taken over");
  }
  const owned = view.pods.filter((pod) => isOwnedBy(pod, uidOf(sandbox)));
  const own = owned.find((pod) => instanceOf(pod) === instance.id && !isTerminating(pod)) ?? null;
  const others = owned.filter((pod) => pod !== own);
  const running = wantsRun(version, sandbox);
  if (instanceOf(sandbox) !== instance.id)
    return begun ? refuse("another start has taken over") : { do: "begin" };
  if (textAt(sandbox, "metadata", "annotations", BOOTSTRAP_KEY) !== instance.id) {
    if (begun) return refuse("it was stopped meanwhile");
    if (!running) return { do: "begin" };
    return own === null ? { do: "mark" } : { do: "nothing", pod: own };
  }
  if (!running) return own === null && others.length > 0 ? { do: "wait", pod: null } : { do: "run" };
  if (others.some((pod) => instanceOf(pod) !== instance.id && !isTerminating(pod))) return { do: "suspend" };
  return own === null ? { do: "wait", pod: null } : follow(own);
}

function follow(pod: Plain): LaunchStep {
  const { started, observation } = podProgress(pod);
  if (started) return { do: "finish", pod };
  if (observation.failureClass !== "terminal") return { do: "wait", pod };
  const reason = observation.failureReason ?? "ContainerStartFailed";
  const message = `Pod ${nameOf(pod)} cannot start: ${observation.backendReason ?? reason}`;
  return { do: "refuse", error: new PermanentDriverError(reason, message) };
}

function foreign(sandbox: Plain): LaunchStep {
  const name = nameOf(sandbox);
  if (textAt(sandbox, "metadata", "deletionTimestamp") !== null) {
    return { do: "refuse", error: new Error(`Sandbox ${name} of another owner is still being removed`) };
  }
  const message = `Sandbox ${name} exists and belongs to somebody else: choose another name or namespace`;
  return { do: "refuse", error: new PermanentDriverError("OwnershipConflict", message) };
}

function refuse(why: string): LaunchStep {
  return { do: "refuse", error: new OvertakenError(`The start was given up: ${why}`) };
}
