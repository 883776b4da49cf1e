import { at, integerOf, member, objectOf, objectsOf, textOf, wordOf, type JsonObject } from "./json.js";
import { instantOf } from "./instant.js";
import { waitingCause } from "./pod-reasons.js";

/** One container of a pod, as the kubelet tells it. `lastState` is history and never read. */
export interface PodContainer {
  readonly state: "running" | "waiting" | "terminated" | "unknown";
  /** Waiting or terminated reason as spelled. */
  readonly reason: string | null;
  readonly word: string;
  /** The kubelet's text on it, for people. */
  readonly message: string | null;
  readonly exitCode: number | null;
  readonly finishedAt: number | null;
  readonly ready: boolean;
  readonly started: boolean;
}

/** The containers of a pod by their role. */
export interface PodContainers {
  readonly main: PodContainer | null;
  /** The init container that keeps the main one from starting, if one does. */
  readonly failedInit: PodContainer | null;
  /** How many containers have a status. */
  readonly statuses: number;
}

const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

/** Sorts a pod's containers into roles by its specification: statuses are sorted by name, so their order means nothing. */
export function podContainers(pod: JsonObject): PodContainers {
  const statuses = objectsOf(at(pod, "status", "containerStatuses"));
  return {
    main: readContainer(findByName(statuses, mainName(pod, statuses))),
    failedInit: failedInit(pod),
    statuses: statuses.length,
  };
}

/** The main container: the annotated one, else the first of the specification, else the only one that has a status. */
function mainName(pod: JsonObject, statuses: readonly JsonObject[]): string | null {
  const declared = objectsOf(at(pod, "spec", "containers"));
  const annotated = textOf(at(pod, "metadata", "annotations", DEFAULT_CONTAINER));
  if (annotated !== null && declared.some((container) => container["name"] === annotated)) return annotated;
  const first = declared[0];
  if (first !== undefined) return textOf(first["name"]);
  return statuses.length === 1 ? textOf(statuses[0]?.["name"]) : null;
}

function findByName(statuses: readonly JsonObject[], name: string | null): JsonObject | null {
  if (name === null) return null;
  return statuses.find((status) => status["name"] === name) ?? null;
}

function readContainer(status: JsonObject | null): PodContainer | null {
  if (status === null) return null;
  const state = member(status, "state");
  const kind = stateKind(state);
  const detail = kind === "unknown" ? null : objectOf(member(state, kind));
  const reason = textOf(detail?.["reason"]);
  return {
    state: kind,
    reason,
    word: wordOf(reason),
    message: textOf(detail?.["message"]),
    exitCode: kind === "terminated" ? integerOf(detail?.["exitCode"]) : null,
    finishedAt: kind === "terminated" ? instantOf(detail?.["finishedAt"]) : null,
    ready: status["ready"] === true,
    started: status["started"] === true,
  };
}

function stateKind(state: unknown): PodContainer["state"] {
  if (objectOf(member(state, "terminated")) !== null) return "terminated";
  if (objectOf(member(state, "running")) !== null) return "running";
  if (objectOf(member(state, "waiting")) !== null) return "waiting";
  return "unknown";
}

/** The first init container, in the order of the specification, that failed or waits for more than its turn. */
function failedInit(pod: JsonObject): PodContainer | null {
  const statuses = objectsOf(at(pod, "status", "initContainerStatuses"));
  const declared = objectsOf(at(pod, "spec", "initContainers")).map((init) => textOf(init["name"]));
  const undeclared = statuses
    .map((status) => textOf(status["name"]))
    .filter((name) => !declared.includes(name))
    .sort();
  for (const name of [...declared, ...undeclared]) {
    const init = readContainer(findByName(statuses, name));
    if (init === null) continue;
    if (init.state === "terminated" && init.exitCode !== 0) return init;
    if (init.state === "waiting" && waitingCause(init.word) !== null) return init;
  }
  return null;
}
