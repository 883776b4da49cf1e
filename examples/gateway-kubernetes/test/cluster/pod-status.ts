import { textOf, type JsonObject, type KubeObject } from "../apiserver/object.js";
import { conditionsOf, stamped, type Claim } from "./conditions.js";

/** Where one container of a pod is. */
export type ContainerState =
  | { readonly kind: "waiting"; readonly reason: string; readonly message?: string }
  | { readonly kind: "running"; readonly startedAt: string; readonly ready: boolean }
  | {
      readonly kind: "terminated";
      readonly exitCode: number;
      readonly reason: string;
      readonly message?: string;
      readonly startedAt: string;
      readonly finishedAt: string;
    };

export interface ContainerFacts {
  readonly name: string;
  readonly image: string;
  readonly restarts: number;
  readonly state: ContainerState;
  /** How the run before this one ended. */
  readonly last: ContainerState | null;
}

function stateOf(state: ContainerState): JsonObject {
  const { kind, ...facts } = state;
  if (kind === "running") return { running: { startedAt: state.startedAt } };
  return { [kind]: facts };
}

function described({ name, image, restarts, state, last }: ContainerFacts): JsonObject {
  const running = state.kind === "running";
  return {
    name,
    image,
    imageID: "",
    restartCount: restarts,
    ready: running && state.ready,
    started: running,
    state: stateOf(state),
    lastState: last === null ? {} : stateOf(last),
  };
}

/** The phase by the kubelet's rule: a container that will be restarted has not ended the pod. */
function phaseOf(containers: readonly ContainerFacts[], restartPolicy: string): string {
  const waitsFirst = (one: ContainerFacts): boolean => one.state.kind === "waiting" && one.last === null;
  if (containers.some(waitsFirst)) return "Pending";
  const final = (one: ContainerFacts): boolean => {
    if (one.state.kind !== "terminated") return false;
    return restartPolicy === "Never" || (restartPolicy === "OnFailure" && one.state.exitCode === 0);
  };
  if (!containers.every(final)) return "Running";
  return containers.every((one) => one.state.kind === "terminated" && one.state.exitCode === 0)
    ? "Succeeded"
    : "Failed";
}

function readiness(type: string, containers: readonly ContainerFacts[], phase: string): Claim {
  const unready = containers.filter((one) => one.state.kind !== "running" || !one.state.ready);
  if (unready.length === 0) return { type, status: "True" };
  if (phase === "Succeeded") return { type, status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { type, status: "False", reason: "PodFailed" };
  const message = `containers with unready status: [${unready.map((one) => one.name).join(" ")}]`;
  return { type, status: "False", reason: "ContainersNotReady", message };
}

/** The status of a pod by its containers. Containers come out sorted by name, as a kubelet has them. */
export function podStatus(
  pod: KubeObject,
  containers: readonly ContainerFacts[],
  ip: string,
  now: string,
): JsonObject {
  const phase = phaseOf(containers, textOf(pod.spec?.["restartPolicy"]) || "Always");
  const begun = containers.some((one) => one.state.kind !== "waiting" || one.last !== null);
  const earlier = conditionsOf(pod.status);
  const kept = earlier.filter((one) => one.type === "DisruptionTarget");
  const claims: Claim[] = [
    ...kept,
    { type: "PodScheduled", status: "True" },
    { type: "Initialized", status: "True" },
    readiness("ContainersReady", containers, phase),
    readiness("Ready", containers, phase),
  ];
  const sorted = [...containers].sort((one, two) => (one.name < two.name ? -1 : 1));
  return {
    ...pod.status,
    phase,
    conditions: stamped(claims, earlier, now) as unknown as JsonObject[],
    containerStatuses: sorted.map(described),
    hostIP: "192.0.2.1",
    startTime: pod.status?.["startTime"] ?? now,
    ...(begun ? { podIP: ip, podIPs: [{ ip }] } : {}),
  };
}
