import {
  observeDockerInspect,
  observePod,
  observeSandboxResource,
  type Observation,
  type ObserveOptions,
} from "../../src/phase/index.js";

/** What a model's backend has of one sandbox. Instants are epoch milliseconds. */
export interface Shown {
  readonly state: "none" | "made" | "refused" | "pending" | "up" | "paused" | "ended";
  /** The run that the object names, where its driver writes that on it. */
  readonly label?: string | undefined;
  readonly madeAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly exitCode?: number | undefined;
  /** A pod that goes away, or a resource that is scaled to nothing. */
  readonly going?: boolean | undefined;
}

/** A backend with the driver of a gateway, small enough that all that can become of a sandbox can be walked. */
export interface BackendModel {
  readonly name: string;
  readonly first: Shown;
  /** What a driver call does; it is idempotent. */
  start(shown: Shown, now: number, instanceId: string): Shown;
  stop(shown: Shown, now: number): Shown;
  /** What comes by itself. */
  soon(shown: Shown, now: number): Shown | null;
  /** What may happen, and need not. */
  accidents(shown: Shown, now: number): readonly Shown[];
  look(shown: Shown, options: ObserveOptions): Observation;
}

const KEY = "slipway.dev/instance-id";
const NONE: Shown = { state: "none" };
const ZERO = "0001-01-01T00:00:00Z";
const time = (at: number | undefined): string => (at === undefined ? ZERO : new Date(at).toISOString());
const ended = (shown: Shown, endedAt: number, exitCode: number): Shown => ({
  ...shown,
  state: "ended",
  endedAt,
  exitCode,
});

/** A container a run, with its name on it, or one container for all of them. */
export function docker(labelled: boolean): BackendModel {
  const words = { made: "created", refused: "created", pending: "created", up: "running", ended: "exited" };
  return {
    name: labelled ? "Docker, a container a run" : "Docker, one container",
    first: NONE,
    start(shown, now, instanceId) {
      if (labelled && shown.label !== instanceId) return { state: "up", madeAt: now, label: instanceId };
      return shown.state === "up"
        ? shown
        : { state: "up", madeAt: now, label: labelled ? instanceId : undefined };
    },
    stop: (shown, now) => (["up", "paused"].includes(shown.state) ? ended(shown, now, 143) : shown),
    soon: () => null,
    accidents(shown, now) {
      if (shown.state === "none") return [{ state: "made" }, { state: "refused" }];
      if (shown.state !== "up") return [NONE];
      return [NONE, ended(shown, now, 0), ended(shown, now, 1), { ...shown, state: "paused" }];
    },
    look({ state, label, madeAt, endedAt, exitCode }, options) {
      if (state === "none") return observeDockerInspect({ inspect: null, error: { status: 404 } }, options);
      const State = {
        Status: state === "paused" ? "paused" : words[state],
        Running: state === "up" || state === "paused",
        Paused: state === "paused",
        ExitCode: exitCode ?? (state === "refused" ? 128 : 0),
        Error: state === "refused" ? "port is already allocated" : "",
        StartedAt: time(madeAt),
        FinishedAt: time(endedAt),
      };
      const Labels = label === undefined ? {} : { [KEY]: label };
      return observeDockerInspect({ inspect: { Id: "c", Config: { Labels }, State } }, options);
    },
  };
}

function podOf({ state, label, madeAt, endedAt, exitCode, going }: Shown): Record<string, unknown> {
  const finishedAt = time(endedAt);
  const over = { terminated: { exitCode, reason: exitCode === 0 ? "Completed" : "Error", finishedAt } };
  const up = state === "up";
  const phase = state === "ended" ? (exitCode === 0 ? "Succeeded" : "Failed") : up ? "Running" : "Pending";
  return {
    metadata: {
      name: "sb",
      creationTimestamp: time(madeAt),
      labels: label === undefined ? {} : { [KEY]: label },
      ownerReferences: [{ kind: "Sandbox", name: "sb", uid: "u", controller: true }],
      ...(going === true ? { deletionTimestamp: time((madeAt ?? 0) + 1e9) } : {}),
    },
    spec: { restartPolicy: "Never", containers: [{ name: "agent" }] },
    status: {
      phase,
      conditions: [
        { type: "Ready", status: up ? "True" : "False", lastTransitionTime: time(endedAt ?? madeAt) },
      ],
      containerStatuses:
        state === "pending"
          ? []
          : [{ name: "agent", ready: up, started: up, state: up ? { running: {} } : over }],
    },
  };
}

const notFound = { kind: "Status", reason: "NotFound", code: 404, details: { name: "sb" } };

/** A pod a run; a stop deletes it. */
export function pods(labelled: boolean): BackendModel {
  return {
    name: labelled ? "pods that name their run" : "pods",
    first: NONE,
    start(shown, now, instanceId) {
      const serves = shown.state === "up" || shown.state === "pending";
      if (shown.going === true || (serves && (!labelled || shown.label === instanceId))) return shown;
      return { state: "pending", madeAt: now, label: labelled ? instanceId : undefined };
    },
    stop: (shown) => (shown.state === "none" ? shown : { ...shown, going: true }),
    soon: (shown) =>
      shown.going === true ? NONE : shown.state === "pending" ? { ...shown, state: "up" } : null,
    accidents(shown, now) {
      if (shown.state === "none") return [];
      const drained: Shown = { ...shown, going: true };
      return shown.state === "up"
        ? [NONE, drained, ended(shown, now, 0), ended(shown, now, 3)]
        : [NONE, drained];
    },
    look: (shown, options) =>
      shown.state === "none"
        ? observePod({ pod: null, error: notFound }, options)
        : observePod({ pod: podOf(shown) }, options),
  };
}

/** An agent-sandbox resource with the run's name on it, whose controller makes and removes the pod. */
export const agentSandbox: BackendModel = {
  name: "agent-sandbox",
  first: { state: "none", going: false, label: "run-0" },
  start: (shown, _now, instanceId) => ({ ...shown, going: false, label: instanceId }),
  stop: (shown) => ({ ...shown, going: true }),
  soon({ going, label, state }, now) {
    if (going === true) return state === "none" ? null : { state: "none", going, label };
    return state === "none" ? { state: "up", madeAt: now, label, going } : null;
  },
  accidents(shown, now) {
    const scaledDown: Shown = { ...shown, going: true };
    return shown.state === "up" ? [scaledDown, ended(shown, now, 0), ended(shown, now, 3)] : [scaledDown];
  },
  look({ label, going, ...pod }, options) {
    const metadata = { name: "sb", uid: "u", generation: 2, annotations: { [KEY]: label } };
    const spec = { operatingMode: going === true ? "Suspended" : "Running" };
    const ready = pod.state === "up" ? ["True", "DependenciesReady"] : ["False", "DependenciesNotReady"];
    const conditions = [{ type: "Ready", status: ready[0], reason: ready[1], observedGeneration: 2 }];
    const sandbox = {
      apiVersion: "agents.x-k8s.io/v1beta1",
      kind: "Sandbox",
      metadata,
      spec,
      status: { conditions },
    };
    return observeSandboxResource(
      { sandbox, pods: { items: pod.state === "none" ? [] : [podOf(pod)] } },
      options,
    );
  },
};
