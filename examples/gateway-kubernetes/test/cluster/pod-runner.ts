import { at, isObject, textOf, type KubeObject } from "../apiserver/object.js";
import type { Handle } from "./handle.js";
import { podStatus, type ContainerFacts, type ContainerState } from "./pod-status.js";
import type { ContainerRun, Runtime } from "./runtime.js";
import type { Volumes } from "./volumes.js";

/** What a node offers to the pods that run on it. */
export interface Node {
  readonly handle: Handle;
  readonly runtime: Runtime;
  readonly volumes: Volumes;
  /** Images that are there; absent for all. */
  readonly images?: ReadonlySet<string>;
  readonly pullMs?: number;
  /** Does it report? A silent node runs on but tells nothing. */
  readonly speaks: () => boolean;
}

interface Container {
  readonly spec: KubeObject["spec"] & object;
  readonly name: string;
  readonly image: string;
  state: ContainerState;
  last: ContainerState | null;
  restarts: number;
  /** Failed pulls or ended runs in a row, for the backoff. */
  failures: number;
  /** The live run, null between runs. */
  run: ContainerRun | null;
}

/** What a kubelet takes of a log into a status. */
const LONGEST_LOG = 2048;

/** 10 s, doubling, at most five minutes: for pulls and for restarts. */
function backoffMs(failures: number): number {
  return Math.min(300_000, 10_000 * 2 ** Math.max(0, failures - 1));
}

/** One pod on a node, from the pull of its images to the end of its containers. */
export class PodRunner {
  readonly pod: KubeObject;
  readonly #node: Node;
  readonly #ip: string;
  readonly #containers: Container[];
  readonly #timers = new Set<Disposable>();
  #begun = false;
  /** The grace period under which it ends, null while it is to run. */
  #graceMs: number | null = null;

  constructor(node: Node, pod: KubeObject, ip: string) {
    this.#node = node;
    this.pod = pod;
    this.#ip = ip;
    const specs = pod.spec?.["containers"];
    this.#containers = (Array.isArray(specs) ? specs.filter(isObject) : []).map((spec) => ({
      spec,
      name: textOf(spec["name"]),
      image: textOf(spec["image"]),
      state: { kind: "waiting", reason: "ContainerCreating" },
      last: null,
      restarts: 0,
      failures: 0,
      run: null,
    }));
  }

  /** Has it nothing that runs? */
  get isIdle(): boolean {
    return this.#containers.every((container) => container.run === null);
  }

  /** Starts the containers once the pod's claims are bound; called again until they are. */
  begin(): void {
    if (this.#begun || !this.#node.volumes.areBound(this.pod)) return;
    this.#begun = true;
    this.report();
    for (const container of this.#containers) this.#pull(container);
  }

  /** SIGTERM, and SIGKILL when the grace period is over; a later call may only shorten it. */
  end(graceMs: number): void {
    if (this.#graceMs !== null && graceMs >= this.#graceMs) return;
    if (this.#graceMs === null) {
      this.#tell("Normal", "Killing", "Stopping container");
      for (const { run } of this.#containers) run?.signal("SIGTERM");
    }
    this.#graceMs = graceMs;
    this.#later(Math.max(1, graceMs), () => {
      for (const { run } of this.#containers) run?.signal("SIGKILL");
    });
  }

  /** Everything stops at once and nobody hears of it. */
  powerOff(): void {
    this.#clearTimers();
    for (const container of this.#containers) {
      const { run } = container;
      container.run = null;
      run?.signal("SIGKILL");
      if (container.state.kind === "running") this.#terminated(container, 255, "Unknown");
    }
  }

  /** The node is up again: what may be restarted is, what waited waits anew. */
  powerOn(): void {
    if (!this.#begun || this.#graceMs !== null) return;
    for (const container of this.#containers) {
      if (container.state.kind === "terminated") this.#afterEnd(container);
      else this.#pull(container);
    }
  }

  /** The object is gone: so is all that it ran. */
  discard(): void {
    this.#clearTimers();
    for (const container of this.#containers) {
      const { run } = container;
      container.run = null;
      run?.signal("SIGKILL");
    }
  }

  /** Writes what the node knows. */
  report(): void {
    const pod = this.#current();
    if (pod === null || !this.#begun || !this.#node.speaks()) return;
    const { handle } = this.#node;
    const facts = this.#containers.map(
      ({ name, image, restarts, state, last }): ContainerFacts => ({ name, image, restarts, state, last }),
    );
    const status = podStatus(pod, facts, this.#ip, handle.stamp());
    const { namespace = "", name } = pod.metadata;
    handle.registry.force(handle.target("pods", namespace, name), (object) => {
      object.status = status;
    });
  }

  #current(): KubeObject | null {
    return this.#node.handle.same("pods", this.pod);
  }

  #clearTimers(): void {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  #later(ms: number, work: () => void): void {
    const { clock } = this.#node.handle;
    const timer = clock.schedule(
      clock.now() + ms,
      () => {
        this.#timers.delete(timer);
        work();
      },
      { unref: true },
    );
    this.#timers.add(timer);
  }

  #tell(type: "Normal" | "Warning", reason: string, message: string): void {
    if (this.#node.speaks()) this.#node.handle.event(this.pod, type, reason, message, "kubelet");
  }

  #wait(container: Container, reason: string, message: string): void {
    container.state = { kind: "waiting", reason, message };
  }

  #pull(container: Container): void {
    if (this.#graceMs !== null || this.#current() === null) return;
    const { image } = container;
    const { images, pullMs = 0 } = this.#node;
    if (images === undefined || images.has(image)) {
      this.#tell("Normal", "Pulling", `Pulling image "${image}"`);
      this.#later(pullMs, () => {
        this.#tell("Normal", "Pulled", `Successfully pulled image "${image}"`);
        this.#launch(container);
      });
      return;
    }
    container.failures += 1;
    if (container.spec["imagePullPolicy"] === "Never") {
      const message = `Container image "${image}" is not present with pull policy of Never`;
      this.#wait(container, "ErrImageNeverPull", message);
      this.#tell("Warning", "ErrImageNeverPull", message);
    } else {
      this.#wait(container, "ErrImagePull", `failed to pull and unpack image "${image}": not found`);
      this.#tell("Warning", "Failed", `Failed to pull image "${image}": not found`);
      this.#later(1_000, () => {
        this.#wait(container, "ImagePullBackOff", `Back-off pulling image "${image}"`);
        this.#tell("Normal", "BackOff", `Back-off pulling image "${image}"`);
        this.report();
      });
    }
    this.#later(backoffMs(container.failures), () => this.#pull(container));
    this.report();
  }

  #launch(container: Container): void {
    const pod = this.#current();
    if (pod === null || this.#graceMs !== null) return;
    container.state = { kind: "running", startedAt: this.#node.handle.stamp(), ready: false };
    const run = this.#node.runtime.start(pod, container.spec, this.#node.volumes.folders(pod), {
      ready: (ready) => {
        if (container.run !== run || container.state.kind !== "running") return;
        container.state = { ...container.state, ready };
        this.report();
      },
      exited: (code, reason, log) => {
        if (container.run !== run) return;
        container.run = null;
        this.#terminated(container, code, reason, log);
        this.#afterEnd(container);
        this.report();
      },
    });
    container.run = run;
    this.#tell("Normal", "Started", `Started container ${container.name}`);
    this.report();
  }

  #terminated(container: Container, exitCode: number, reason?: string, log = ""): void {
    const { state, spec } = container;
    // A start that failed never began: its time is the epoch's.
    const began = state.kind === "running" && reason !== "StartError";
    const tellsLog =
      exitCode !== 0 && log !== "" && spec["terminationMessagePolicy"] === "FallbackToLogsOnError";
    container.state = {
      kind: "terminated",
      exitCode,
      reason: reason ?? (exitCode === 0 ? "Completed" : "Error"),
      ...(tellsLog ? { message: log.slice(-LONGEST_LOG) } : {}),
      startedAt: began ? state.startedAt : "1970-01-01T00:00:00Z",
      finishedAt: this.#node.handle.stamp(),
    };
  }

  /** Restarts by policy, with the crash loop's backoff, or lets it be. */
  #afterEnd(container: Container): void {
    const { state } = container;
    if (state.kind !== "terminated" || this.#graceMs !== null) return;
    const policy = textOf(at(this.pod, "spec.restartPolicy"));
    if (policy === "Never" || (policy === "OnFailure" && state.exitCode === 0)) return;
    container.last = state;
    container.restarts += 1;
    container.failures += 1;
    const wait = container.restarts === 1 ? 0 : backoffMs(container.failures - 1);
    if (wait > 0) {
      this.#wait(container, "CrashLoopBackOff", `back-off ${wait / 1000}s restarting failed container`);
    }
    this.#later(wait, () => this.#launch(container));
  }
}
