import type { JsonObject, KubeObject } from "../apiserver/object.js";
import { conditionsOf, stamped, type Claim } from "./conditions.js";
import type { Handle } from "./handle.js";
import type { Volumes } from "./volumes.js";

/** Stands for kube-scheduler: binds a pod to the one node once its claims exist, and says why not till then. */
export class Scheduler {
  /** Pods that no node takes, with the message for them. */
  unschedulable: (pod: KubeObject) => string | null = () => null;
  readonly #handle: Handle;
  readonly #volumes: Volumes;
  readonly #nodeName: string;

  constructor(handle: Handle, volumes: Volumes, nodeName: string) {
    this.#handle = handle;
    this.#volumes = volumes;
    this.#nodeName = nodeName;
  }

  schedule(pod: KubeObject): void {
    const { namespace = "", name } = pod.metadata;
    const missing = this.#volumes.missingClaim(pod);
    const why =
      this.unschedulable(pod) ?? (missing === null ? null : `persistentvolumeclaim "${missing}" not found`);
    const earlier = conditionsOf(pod.status);
    if (why !== null && earlier.some((one) => one.type === "PodScheduled" && one.message === why)) return;
    const claim: Claim =
      why === null
        ? { type: "PodScheduled", status: "True" }
        : { type: "PodScheduled", status: "False", reason: "Unschedulable", message: why };
    const conditions = stamped([claim], earlier, this.#handle.stamp()) as unknown as JsonObject[];
    this.#handle.registry.force(this.#handle.target("pods", namespace, name), (object) => {
      object.status = { ...object.status, conditions };
      if (why === null) object.spec = { ...object.spec, nodeName: this.#nodeName };
    });
    const assigned = `Successfully assigned ${namespace}/${name} to ${this.#nodeName}`;
    if (why === null) this.#handle.event(pod, "Normal", "Scheduled", assigned, "default-scheduler");
    else this.#handle.event(pod, "Warning", "FailedScheduling", why, "default-scheduler");
  }
}
