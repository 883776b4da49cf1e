import { observePod, type Observation } from "slipway/phase";
import { memberOf, recordsOf, textAt, type Plain } from "../api/plain.js";
import { INSTANCE_KEY } from "../resource/names.js";

/** Whether the resource of this UID controls the pod. Names, labels and annotations are hints only. */
export function isOwnedBy(pod: Plain, uid: string): boolean {
  return uid !== "" && controllerUid(pod) === uid;
}

/** Whether a resource of this name controlled the pod, which is gone and has left it to the cluster's collector. */
export function isLeftBy(pod: Plain, name: string): boolean {
  const owner = controllerOf(pod);
  return textAt(owner, "kind") === "Sandbox" && textAt(owner, "name") === name;
}

export function controllerUid(pod: Plain): string | null {
  return textAt(controllerOf(pod), "uid");
}

function controllerOf(pod: Plain): Plain | undefined {
  return recordsOf(memberOf(pod, "metadata", "ownerReferences")).find((each) => each["controller"] === true);
}

export function isTerminating(pod: Plain): boolean {
  return textAt(pod, "metadata", "deletionTimestamp") !== null;
}

export function instanceOf(object: Plain): string | null {
  return textAt(object, "metadata", "annotations", INSTANCE_KEY);
}

/** What a start has to know of its pod: whether the main container began, and what stands in its way for good. */
export interface PodProgress {
  readonly scheduled: boolean;
  readonly started: boolean;
  readonly observation: Observation;
}

export function podProgress(pod: Plain): PodProgress {
  const observation = observePod({ pod });
  const scheduled = textAt(pod, "spec", "nodeName") !== null;
  return { scheduled, started: observation.running === true || observation.completed === true, observation };
}
