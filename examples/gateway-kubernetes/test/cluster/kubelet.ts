import { at, isObject, textOf, type JsonObject, type KubeObject } from "../apiserver/object.js";
import type { Change } from "../apiserver/store.js";
import { stamped, conditionsOf } from "./conditions.js";
import type { Handle } from "./handle.js";
import { backoffMs, driven, endReason, factsOf, type Driven } from "./pod-run.js";
import { podStatus } from "./pod-status.js";
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

interface Pod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly ip: string;
  readonly containers: Driven[];
  readonly timers: Set<Disposable>;
  terminating: boolean;
  begun: boolean;
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
  readonly #pods = new Map<string, Pod>();
  #subscription: Disposable | undefined;
  #nextIp = 1;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#handle = options.handle;
    this.nodeName = options.nodeName ?? "node-1";
    this.scheduler = new Scheduler(options.handle, options.volumes, this.nodeName);
    this.start();
  }

  /** Starts, or speaks again after `stop`: reports what happened meanwhile, takes up every pod in any order. */
  start(): void {
    if (this.#subscription !== undefined) return;
    this.#subscription = this.#handle.registry.store.subscribe((change) => this.#notice(change));
    for (const pod of this.#shuffled([...this.#pods.values()])) this.#report(pod);
    for (const pod of this.#shuffled(this.#handle.list("pods"))) {
      this.#later(0, () => this.#sync(pod.metadata.uid, pod));
    }
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
    for (const pod of this.#pods.values()) this.#forget(pod);
    this.#pods.clear();
  }

  /**
   * The node loses power and is back after `downMs`: every container is gone at once without a word, and after the boot
   * the pods are taken up in any order. Who may not be restarted has failed with exit code 255, reason Unknown.
   */
  reboot(downMs: number): void {
    this.stop();
    for (const pod of this.#pods.values()) {
      for (const timer of pod.timers) timer[Symbol.dispose]();
      pod.timers.clear();
      for (const container of pod.containers) {
        const { run } = container;
        container.run = null;
        run?.signal("SIGKILL");
        if (container.state.kind === "running") this.#terminated(container, 255, "Unknown");
      }
    }
    const { clock } = this.#handle;
    const boot = (): void => {
      for (const pod of this.#shuffled([...this.#pods.values()])) {
        for (const container of pod.containers) this.#afterEnd(pod, container);
        // What was being pulled is pulled again.
        if (pod.containers.every(({ state }) => state.kind === "waiting")) pod.begun = false;
      }
      this.start();
    };
    clock.schedule(clock.now() + downMs, boot, { unref: true });
  }

  /** Ends a pod from outside, as an eviction or a node shutdown does: phase Failed with the pod's own reason. */
  fail(namespace: string, name: string, reason: string, message: string, disruption?: string): void {
    const pod = this.#handle.find("pods", namespace, name);
    if (pod === null) throw new Error(`there is no pod ${namespace}/${name}`);
    const known = this.#pods.get(pod.metadata.uid);
    if (known !== undefined) this.#forget(known);
    this.#pods.delete(pod.metadata.uid);
    const now = this.#handle.stamp();
    this.#handle.registry.force(this.#handle.target("pods", namespace, name), (object) => {
      const earlier = conditionsOf(object.status);
      const claims = earlier.map((one) =>
        one.type === "Ready" ? { ...one, status: "False" as const } : one,
      );
      if (disruption !== undefined)
        claims.push({
          type: "DisruptionTarget",
          status: "True",
          reason: disruption,
          message,
          lastTransitionTime: now,
        });
      const conditions = stamped(claims, earlier, now) as unknown as JsonObject[];
      object.status = { ...object.status, phase: "Failed", reason, message, conditions };
    });
  }

  #forget(pod: Pod): void {
    for (const timer of pod.timers) timer[Symbol.dispose]();
    for (const container of pod.containers) {
      const { run } = container;
      container.run = null;
      run?.signal("SIGKILL");
    }
  }

  #later(ms: number, work: () => void, pod?: Pod): void {
    const { clock } = this.#handle;
    if (ms === 0) {
      queueMicrotask(work);
      return;
    }
    const timer = clock.schedule(
      clock.now() + ms,
      () => {
        pod?.timers.delete(timer);
        work();
      },
      { unref: true },
    );
    pod?.timers.add(timer);
  }

  #notice({ resource, object, deleted }: Change): void {
    if (resource === "persistentvolumeclaims" && !deleted) {
      for (const pod of this.#handle.list("pods", object.metadata.namespace))
        this.#later(0, () => this.#sync(pod.metadata.uid, pod));
    }
    if (resource !== "pods") return;
    const { uid } = object.metadata;
    if (deleted) {
      const pod = this.#pods.get(uid);
      if (pod !== undefined) this.#later(0, () => this.#forget(pod));
      this.#pods.delete(uid);
    } else this.#later(0, () => this.#sync(uid, object));
  }

  /** Brings one pod on by one step; every step's write leads to the next. */
  #sync(uid: string, known: KubeObject): void {
    const pod = this.#handle.same("pods", known);
    if (pod === null || this.#subscription === undefined) return;
    const deleting = pod.metadata.deletionTimestamp !== undefined;
    if (!pod.spec?.["nodeName"]) {
      if (!deleting) this.scheduler.schedule(pod);
      return;
    }
    if (pod.spec["nodeName"] !== this.nodeName) return;
    const phase = at(pod, "status.phase");
    const run = this.#pods.get(uid) ?? (phase === "Pending" && !deleting ? this.#take(pod) : undefined);
    if (deleting) this.#terminate(pod, run);
    else if (run !== undefined && !run.begun) this.#begin(pod, run);
  }

  #take(pod: KubeObject): Pod {
    const specs = pod.spec?.["containers"];
    const containers = Array.isArray(specs) ? specs.filter(isObject).map(driven) : [];
    const { uid, namespace = "", name } = pod.metadata;
    const own: Pod = {
      uid,
      namespace,
      name,
      ip: `10.0.0.${this.#nextIp++}`,
      containers,
      timers: new Set(),
      terminating: false,
      begun: false,
    };
    this.#pods.set(uid, own);
    return own;
  }

  #begin(pod: KubeObject, own: Pod): void {
    // Unbound claims hold the pod in ContainerCreating; their change brings it here again.
    if (!this.#options.volumes.areBound(pod)) return;
    own.begun = true;
    this.#report(own);
    for (const container of own.containers) this.#pull(own, container);
  }

  #pull(own: Pod, container: Driven): void {
    const image = textOf(container.spec["image"]);
    const { images, pullMs = 0 } = this.#options;
    const pod = this.#handle.find("pods", own.namespace, own.name);
    if (pod === null || own.terminating) return;
    const event = (type: "Normal" | "Warning", reason: string, message: string): void =>
      this.#tell(pod, type, reason, message);
    if (images === undefined || images.has(image)) {
      event("Normal", "Pulling", `Pulling image "${image}"`);
      this.#later(pullMs, () => this.#launch(own, container), own);
      return;
    }
    container.failures += 1;
    if (container.spec["imagePullPolicy"] === "Never") {
      const message = `Container image "${image}" is not present with pull policy of Never`;
      container.state = { kind: "waiting", reason: "ErrImageNeverPull", message };
      event("Warning", "ErrImageNeverPull", message);
    } else {
      container.state = {
        kind: "waiting",
        reason: "ErrImagePull",
        message: `failed to pull and unpack image "${image}": not found`,
      };
      event("Warning", "Failed", `Failed to pull image "${image}": not found`);
      this.#later(
        1_000,
        () => {
          container.state = {
            kind: "waiting",
            reason: "ImagePullBackOff",
            message: `Back-off pulling image "${image}"`,
          };
          event("Normal", "BackOff", `Back-off pulling image "${image}"`);
          this.#report(own);
        },
        own,
      );
    }
    this.#later(backoffMs(container.failures), () => this.#pull(own, container), own);
    this.#report(own);
  }

  #launch(own: Pod, container: Driven): void {
    const pod = this.#handle.find("pods", own.namespace, own.name);
    if (pod?.metadata.uid !== own.uid || own.terminating) return;
    const image = textOf(container.spec["image"]);
    if (container.restarts === 0) this.#tell(pod, "Normal", "Pulled", `Successfully pulled image "${image}"`);
    const startedAt = this.#handle.stamp();
    container.state = { kind: "running", startedAt, ready: false };
    const run = this.#options.runtime.start(pod, container.spec, this.#options.volumes.folders(pod), {
      ready: (ready) => {
        if (container.run !== run || container.state.kind !== "running") return;
        container.state = { ...container.state, ready };
        this.#report(own);
      },
      exited: (code, reason) => {
        if (container.run !== run) return;
        container.run = null;
        this.#terminated(container, code, reason);
        this.#afterEnd(own, container);
        this.#report(own);
      },
    });
    container.run = run;
    this.#tell(pod, "Normal", "Started", `Started container ${textOf(container.spec["name"])}`);
    this.#report(own);
  }

  #terminated(container: Driven, exitCode: number, reason?: string): void {
    // A start that failed never began: its time is the epoch's.
    const began =
      container.state.kind === "running" && reason !== "StartError"
        ? container.state.startedAt
        : "1970-01-01T00:00:00Z";
    const finishedAt = this.#handle.stamp();
    container.state = {
      kind: "terminated",
      exitCode,
      reason: endReason(exitCode, reason),
      startedAt: began,
      finishedAt,
    };
  }

  /** Restarts by policy, with the crash loop's backoff, or lets it be. */
  #afterEnd(own: Pod, container: Driven): void {
    const { state } = container;
    if (state.kind !== "terminated" || own.terminating) return;
    const policy = textOf(at(this.#handle.find("pods", own.namespace, own.name), "spec.restartPolicy"));
    if (policy === "Never" || (policy === "OnFailure" && state.exitCode === 0)) return;
    container.last = state;
    container.restarts += 1;
    container.failures += 1;
    const wait = container.restarts === 1 ? 0 : backoffMs(container.failures - 1);
    if (wait > 0)
      container.state = {
        kind: "waiting",
        reason: "CrashLoopBackOff",
        message: `back-off ${wait / 1000}s restarting failed container`,
      };
    this.#later(wait, () => this.#launch(own, container), own);
  }

  #terminate(pod: KubeObject, own: Pod | undefined): void {
    const { deletionGracePeriodSeconds = 0 } = pod.metadata;
    if (own === undefined || own.containers.every((container) => container.run === null)) {
      if (own !== undefined) own.terminating = true;
      this.#release(pod, own);
      return;
    }
    if (own.terminating) return;
    own.terminating = true;
    this.#tell(pod, "Normal", "Killing", "Stopping container");
    for (const container of own.containers) container.run?.signal("SIGTERM");
    this.#later(
      Math.max(1, deletionGracePeriodSeconds * 1000),
      () => {
        for (const container of own.containers) container.run?.signal("SIGKILL");
      },
      own,
    );
  }

  /** The final deletion, by the uid that was run: finalizers may still hold the object. */
  #release(pod: KubeObject, own: Pod | undefined): void {
    if (own !== undefined) this.#forget(own);
    this.#later(0, () => {
      const left = this.#handle.same("pods", pod);
      if (left?.metadata.deletionGracePeriodSeconds !== 0) {
        if (left !== null) this.#handle.delete("pods", left, 0);
      }
    });
  }

  /** A silent node tells nothing. */
  #tell(pod: KubeObject, type: "Normal" | "Warning", reason: string, message: string): void {
    if (this.#subscription !== undefined) this.#handle.event(pod, type, reason, message, "kubelet");
  }

  /** Writes what the node knows. A write that changes it leads on, through the watch of pods. */
  #report(own: Pod): void {
    const pod = this.#handle.find("pods", own.namespace, own.name);
    if (pod?.metadata.uid !== own.uid || this.#subscription === undefined) return;
    const status = podStatus(pod, own.containers.map(factsOf), own.ip, this.#handle.stamp());
    this.#handle.registry.force(this.#handle.target("pods", own.namespace, own.name), (object) => {
      object.status = status;
    });
  }
}
