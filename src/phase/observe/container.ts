import { present, type ObservationDraft } from "../observation.js";
import { exitCause, isKill } from "./exit-code.js";
import { fail } from "./failure.js";
import { instantOf } from "./instant.js";
import { at, flagOf, integerOf, textOf, wordOf, type JsonObject } from "./json.js";
import {
  dropOtherRun,
  instanceKeyOf,
  isEarlierRun,
  isForeignInstance,
  isOwnStop,
  observedAtOf,
  type ObserveOptions,
} from "./options.js";

/** What a container engine says of one container, whichever of its endpoints said it. */
export interface ContainerState {
  /** The state word as it was spelled; `null` when the engine says nothing. */
  readonly status: string | null;
  readonly running: boolean | null;
  readonly paused: boolean | null;
  readonly restarting: boolean | null;
  readonly oomKilled: boolean | null;
  readonly exitCode: number | null;
  /** The engine's text on why it could not start the container, for people; that there is one is a fact. */
  readonly error: string | null;
  /** The engine prints a start time and it is the zero value: the process never ran. */
  readonly neverStarted: boolean;
  readonly finishedAt: number | null;
  /** The health word in lower case, `""` for none, and where the endpoint does not show it. */
  readonly health: string;
  readonly healthWord: string | null;
  readonly instanceId: string | null;
}

/** Go's zero value of a time, as JSON or as text. Anything else that cannot be read says nothing. */
const ZERO_TIME = /^0001-01-01[T ]00:00:00/;

/** Reads the `State` of an inspect answer (Docker, and both of Podman's dialects). */
export function inspectedState(inspect: JsonObject, options: ObserveOptions): ContainerState {
  const state = at(inspect, "State");
  const health = at(state, "Health", "Status") ?? at(state, "Healthcheck", "Status");
  const startedAt = at(state, "StartedAt");
  return {
    status: textOf(at(state, "Status")),
    running: flagOf(at(state, "Running")),
    paused: flagOf(at(state, "Paused")),
    restarting: flagOf(at(state, "Restarting")),
    oomKilled: flagOf(at(state, "OOMKilled")),
    exitCode: integerOf(at(state, "ExitCode")),
    error: textOf(at(state, "Error")),
    neverStarted: typeof startedAt === "string" && ZERO_TIME.test(startedAt),
    finishedAt: instantOf(at(state, "FinishedAt")),
    health: wordOf(health),
    healthWord: textOf(health),
    instanceId: textOf(at(inspect, "Config", "Labels", instanceKeyOf(options))),
  };
}

/**
 * The facts in a container's state.
 *
 * The word decides; flags only fill in for a word that is missing, and only where they say yes: all flags down is no
 * evidence of an exit. Words of both engines and of every Podman dialect are known; any other word moves nothing.
 */
export function containerFacts(state: ContainerState, options: ObserveOptions): ObservationDraft {
  const draft = present(observedAtOf(options));
  draft.backendReason = state.status;
  draft.message = state.error;
  draft.instanceId = state.instanceId;
  draft.readiness = "none";
  apply(draft, state, options);
  return isForeignInstance(options, state.instanceId) ? dropOtherRun(draft) : draft;
}

function apply(draft: ObservationDraft, state: ContainerState, options: ObserveOptions): void {
  switch (stateWord(state)) {
    case "created":
    case "configured": {
      // A stop finds nothing to end here, and no engine starts it by itself: under one it is at rest.
      draft.suspended = isOwnStop(options);
      created(draft, state);
      return;
    }
    case "initialized": {
      created(draft, state);
      return;
    }
    case "running": {
      running(draft, state);
      return;
    }
    case "paused": {
      rest(draft, (paused) => (paused.suspended = true));
      return;
    }
    case "restarting": {
      rest(draft, (restarting) => fail(restarting, "CrashLoop", "transient"));
      return;
    }
    case "stopping":
      draft.running = true;
      draft.ready = false;
      draft.terminating = true;
      return;
    case "removing": {
      rest(draft, (removing) => {
        removing.deleting = true;
        removing.terminating = true;
      });
      return;
    }
    case "exited":
    case "stopped": {
      exited(draft, state, options);
      return;
    }
    case "dead": {
      if (isEarlierRun(options, state.finishedAt, 1)) {
        rest(draft, dropOtherRun);
        return;
      }
      rest(draft, (dead) => {
        dead.completed = true;
        dead.finishedAt = state.finishedAt;
        dead.exitCode = state.finishedAt === null ? null : state.exitCode;
        fail(dead, "RemovalFailed");
      });
      return;
    }
    default:
      draft.readiness = "unreadable";
  }
}

function stateWord(state: ContainerState): string {
  const word = wordOf(state.status);
  if (word === "running" || word === "") {
    if (state.paused === true) return "paused";
    if (state.restarting === true) return "restarting";
    if (state.running === true) return "running";
  }
  return word;
}

function rest(draft: ObservationDraft, more: (draft: ObservationDraft) => void): void {
  draft.running = false;
  draft.ready = false;
  more(draft);
}

/** Before the first run the code and the times are zero values, unless a start was tried and refused. */
function created(draft: ObservationDraft, state: ContainerState): void {
  draft.running = false;
  draft.ready = false;
  if (state.error !== null || (state.exitCode !== null && state.exitCode !== 0))
    fail(draft, "ContainerStartFailed");
}

/**
 * Podman's compat layer folds `stopping` into `running` while its own flag stays down: something executes, and whether
 * it is ready cannot be read.
 */
function running(draft: ObservationDraft, state: ContainerState): void {
  draft.running = true;
  if (state.running === false) {
    draft.ready = false;
    draft.readiness = "unreadable";
    return;
  }
  switch (state.health) {
    case "starting":
    case "healthy":
    case "unhealthy":
      draft.readiness = "signal";
      draft.ready = state.health === "healthy";
      draft.backendReason = state.healthWord;
      if (state.health === "unhealthy") fail(draft, "HealthCheckFailed", "transient");
      return;
    default:
      draft.backendReason = state.status ?? "running";
  }
}

function exited(draft: ObservationDraft, state: ContainerState, options: ObserveOptions): void {
  draft.running = false;
  draft.ready = false;
  if (isEarlierRun(options, state.finishedAt, 1)) {
    dropOtherRun(draft);
    return;
  }
  draft.completed = true;
  draft.finishedAt = state.finishedAt;
  // Where both times are the zero value, so is the code: a 0 of a process that never ran is no success.
  const refusedStart =
    state.exitCode === 0
      ? state.neverStarted && state.finishedAt === null
      : state.neverStarted || state.error !== null;
  if (refusedStart) {
    fail(draft, "ContainerStartFailed");
    return;
  }
  draft.exitCode = state.exitCode;
  const cause = state.exitCode === null ? null : exitCause(state.exitCode);
  draft.endedBy = state.exitCode === null || cause === "Killed" ? "unknown" : "guest";
  if (cause === null) return;
  if (state.oomKilled === true && isKill(state.exitCode)) fail(draft, "OutOfMemory");
  else if (!isOwnStop(options)) fail(draft, cause);
}
