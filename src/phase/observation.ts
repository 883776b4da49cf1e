import type { Condition } from "../conditions/index.js";

/**
 * A fact that may be unknown: `null` is neither false nor an error.
 *
 * @public
 */
export type Tri = boolean | null;

/**
 * What a backend shows of one sandbox, in one vocabulary for all backends.
 *
 * Observers make it from the backend's own JSON; the phase rules read nothing else of the backend. `null` means
 * unknown, everywhere.
 *
 * @public
 */
export interface Observation {
  /** The backend's durable object (custom resource, pod, container, VM, state folder) is there. `null`: not learnt. */
  readonly exists: Tri;
  /** The durable object is being removed. */
  readonly deleting: Tri;
  /** The unit that executes for this sandbox. */
  readonly workload: "present" | "absent" | "unknown";
  /** The main process or the virtual CPUs execute now; frozen or paused is `false`. */
  readonly running: Tri;
  /** The backend's own readiness signal; `null` when it has none or it cannot be trusted. */
  readonly ready: Tri;
  /** Where `ready` comes from: a signal, a backend that has none, or a signal that cannot be read now. */
  readonly readiness: "signal" | "none" | "unreadable";
  /** The run is being stopped. */
  readonly terminating: Tri;
  /** Identity and state are kept, nothing executes on purpose, and going on needs no new object. */
  readonly suspended: Tri;
  /** The run is over and the backend will not start it again. */
  readonly completed: Tri;
  /** The driver is still building the runtime, so that nothing to be seen is not nothing there. */
  readonly bootstrapping: Tri;
  /** Exit code of the main process; `null` when unknown or a placeholder that the backend made up. */
  readonly exitCode: number | null;
  /** Who ended a run that is over. */
  readonly endedBy: "guest" | "host" | "unknown";
  /** When the run ended, epoch milliseconds. */
  readonly finishedAt: number | null;
  /** Identity of the run that was seen, where the object carries one. */
  readonly instanceId: string | null;
  /** What is wrong, as a word of the reason catalog. */
  readonly failureReason: string | null;
  /** Whether waiting can help. The observer decides; the rules believe it. */
  readonly failureClass: "transient" | "terminal" | null;
  /** The backend's own word that decided, as it was spelled. */
  readonly backendReason: string | null;
  /** For people: never parsed. */
  readonly message: string | null;
  /** When this was seen, epoch milliseconds. `null`: the caller does not say, and it is taken as current. */
  readonly observedAt: number | null;
  /** Generation of the object that was seen. */
  readonly generation: number | null;
  /**
   * The whole observation is known to be behind: of another run or generation. Nothing that it shows of a run moves a
   * phase; that the object is going or gone, and what is asked for, still do.
   */
  readonly stale: boolean;
  /** Part of the evidence was behind the object or contradicted itself and was left out. For diagnosis: no rule reads it. */
  readonly behind: boolean;
  /** The backend's own conditions. For diagnosis: no rule reads them. */
  readonly conditions: readonly Condition[];
}

/**
 * An observation in the making: the same fields, writable. For the observers of this package.
 */
export type ObservationDraft = { -readonly [Field in keyof Observation]: Observation[Field] };

const NO_CONDITIONS: readonly Condition[] = Object.freeze([]);

/**
 * Nothing learnt: what a look-up that failed leaves. No rule moves a phase on it.
 *
 * @internal
 */
export function unobserved(observedAt: number | null): ObservationDraft {
  return {
    exists: null,
    deleting: null,
    workload: "unknown",
    running: null,
    ready: null,
    readiness: "unreadable",
    terminating: false,
    suspended: false,
    completed: false,
    bootstrapping: null,
    exitCode: null,
    endedBy: "unknown",
    finishedAt: null,
    instanceId: null,
    failureReason: null,
    failureClass: null,
    backendReason: null,
    message: null,
    observedAt,
    generation: null,
    stale: true,
    behind: false,
    conditions: NO_CONDITIONS,
  };
}

/**
 * An object that is there, with its workload, and about which nothing else is known yet.
 *
 * @internal
 */
export function present(observedAt: number | null): ObservationDraft {
  const draft = unobserved(observedAt);
  draft.exists = true;
  draft.deleting = false;
  draft.workload = "present";
  draft.bootstrapping = false;
  draft.stale = false;
  return draft;
}

/**
 * Definite absence: the backend answered that there is no such object.
 *
 * @internal
 */
export function absent(observedAt: number | null): ObservationDraft {
  const draft = unobserved(observedAt);
  draft.exists = false;
  draft.deleting = false;
  draft.workload = "absent";
  draft.running = false;
  draft.ready = false;
  draft.bootstrapping = false;
  draft.stale = false;
  return draft;
}
