import { at, type JsonObject, type KubeObject } from "../apiserver/object.js";
import type { Change } from "../apiserver/store.js";
import { conditionsOf, stamped } from "./conditions.js";
import type { Handle } from "./handle.js";
import { PodRunner, type Node } from "./pod-runner.js";
import type { Runtime } from "./runtime.js";
import { Scheduler } from "./scheduler.js";
import type { Volumes } from "./volumes.js";

export interface KubeletOptions {
  readonly handle: Handle;
  readonly runtime: Runtime;
  readonly volumes: Volumes;
  readonly nodeName?: string;
  /** Images that are there; absent for all. Others are missing until they are added. */
  readonly images?: Set<string>;
  /** How long a pull takes. Default 0. */
  readonly pullMs?: number;
  readonly random: () => number;
}

/**
 * Stands for scheduler and kubelet of a cluster with one node: binds pods, waits for their claims, pulls images, runs
 * containers, restarts them by their policy, ends them within their grace period and then lets the pod go.
 *
 * Faked: one node with room for everything, no probes (a container says itself when it is ready), no init containers,
 * no network, no resources. What runs is up to the runtime. Reports go past HTTP and are never lost.
 */
export class Kubelet implements Disposable {
  readonly nodeName: string;
  readonly scheduler: Scheduler;
  readonly #options: KubeletOptions;
  readonly #handle: Handle;
  readonly #node: Node;
  readonly #pods = new Map<string, PodRunner>();
  #subscription: Disposable | undefined;
  #nextIp = 1;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#handle = options.handle;
    this.nodeName = options.nodeName ?? "node-1";
    this.scheduler = new Scheduler(options.handle, options.volumes, this.nodeName);
    this.#node = { ...options, speaks: () => this.#subscription !== undefined };
    this.start();
  }

  /** Starts, or speaks again after `stop`: reports what happened meanwhile, takes up every pod in any order. */
  start(): void {
    if (this.#subscription !== undefined) return;
    this.#subscription = this.#handle.registry.store.subscribe((change) => this.#notice(change));
    for (const runner of this.#shuffled([...this.#pods.values()])) runner.report();
    for (const pod of this.#shuffled(this.#handle.list("pods"))) this.#syncLater(pod);
  }

  #shuffled<T>(list: readonly T[]): T[] {
    const placed = list.map((entry) => ({ entry, order: this.#options.random() }));
    return placed.sort((one, two) => one.order - two.order).map(({ entry }) => entry);
  }

  /** The node goes silent: containers run on, nothing is noticed or reported until `start`. */
  stop(): void {
    this.#subscription?.[Symbol.dispose]();
    this.#subscription = undefined;
  }

  [Symbol.dispose](): void {
    this.stop();
    for (const runner of this.#pods.values()) runner.discard();
    this.#pods.clear();
  }

  /**
   * The node loses power and is back after `downMs`: every container is gone at once without a word, and after the boot
   * the pods are taken up in any order. Who may not be restarted has failed with exit code 255, reason Unknown.
   */
  reboot(downMs: number): void {
    this.stop();
    for (const runner of this.#pods.values()) runner.powerOff();
    const { clock } = this.#handle;
    const boot = (): void => {
      for (const runner of this.#shuffled([...this.#pods.values()])) runner.powerOn();
      this.start();
    };
    clock.schedule(clock.now() + downMs, boot, { unref: true });
  }

  /** Ends a pod from outside, as an eviction or a node shutdown does: phase Failed with the pod's own reason. */
  fail(namespace: string, name: string, reason: string, message: string, disruption?: string): void {
    const pod = this.#handle.find("pods", namespace, name);
    if (pod === null) throw new Error(`there is no pod ${namespace}/${name}`);
    this.#discard(pod.metadata.uid);
    const lastTransitionTime = this.#handle.stamp();
    this.#handle.registry.force(this.#handle.target("pods", namespace, name), (object) => {
      const earlier = conditionsOf(object.status);
      const claims = earlier.map((one) =>
        one.type.endsWith("Ready") ? { ...one, status: "False" as const, reason: "PodFailed" } : one,
      );
      if (disruption !== undefined) {
        claims.push({
          type: "DisruptionTarget",
          status: "True",
          reason: disruption,
          message,
          lastTransitionTime,
        });
      }
      const conditions = stamped(claims, earlier, lastTransitionTime) as unknown as JsonObject[];
      object.status = { ...object.status, phase: "Failed", reason, message, conditions };
    });
  }

  #discard(uid: string): void {
    this.#pods.get(uid)?.discard();
    this.#pods.delete(uid);
  }

  #syncLater(pod: KubeObject): void {
    queueMicrotask(() => this.#sync(pod));
  }

  #notice({ resource, object, deleted }: Change): void {
    // A claim may be what a pod waits for.
    if (resource === "persistentvolumeclaims" && !deleted) {
      for (const pod of this.#handle.list("pods", object.metadata.namespace)) this.#syncLater(pod);
    }
    if (resource !== "pods") return;
    if (deleted) queueMicrotask(() => this.#discard(object.metadata.uid));
    else this.#syncLater(object);
  }

  /** Brings one pod on by one step; every step's write leads to the next. */
  #sync(known: KubeObject): void {
    const pod = this.#handle.same("pods", known);
    if (pod === null || this.#subscription === undefined) return;
    const isDeleting = pod.metadata.deletionTimestamp !== undefined;
    if (!pod.spec?.["nodeName"]) {
      if (!isDeleting) this.scheduler.schedule(pod);
      return;
    }
    if (pod.spec["nodeName"] !== this.nodeName) return;
    const { uid } = pod.metadata;
    let runner = this.#pods.get(uid);
    if (runner === undefined && !isDeleting && at(pod, "status.phase") === "Pending") {
      runner = new PodRunner(this.#node, pod, `10.0.0.${this.#nextIp++}`);
      this.#pods.set(uid, runner);
    }
    if (!isDeleting) runner?.begin();
    else this.#end(pod, runner);
  }

  #end(pod: KubeObject, runner: PodRunner | undefined): void {
    const { uid, deletionGracePeriodSeconds = 0 } = pod.metadata;
    runner?.end(deletionGracePeriodSeconds * 1000);
    if (runner !== undefined && !runner.isIdle) return;
    this.#discard(uid);
    // The final deletion is by the uid that was run; finalizers may still hold the object.
    queueMicrotask(() => {
      const left = this.#handle.same("pods", pod);
      if (left !== null && left.metadata.deletionGracePeriodSeconds !== 0)
        this.#handle.delete("pods", left, 0);
    });
  }
}
