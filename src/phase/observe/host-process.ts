import { absent, present, type ObservationDraft } from "../observation.js";
import { fail } from "./failure.js";
import { flagOf, integerOf, member, objectOf, textOf, wordOf } from "./json.js";
import { dropOtherRun, isForeignInstance, isOwnStop, observedAtOf, type ObserveOptions } from "./options.js";

/** A launcher or VMM process as its driver knows it. */
export interface HostProcess {
  readonly alive: boolean | null;
  /** The launcher's own code: never the main process's. */
  readonly exitCode: number | null;
  /** The signal that ended it, named. */
  readonly signal: string | null;
}

/** Reads a driver's `{ pid, alive, exitCode, signal }`, or `null` when there is none. */
export function hostProcess(value: unknown): HostProcess | null {
  const process = objectOf(value);
  if (process === null) return null;
  const exitCode = integerOf(process["exitCode"]);
  const signal = signalName(process["signal"]);
  const alive = flagOf(process["alive"]);
  return { alive: alive ?? (exitCode !== null || signal !== null ? false : null), exitCode, signal };
}

const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, "SIGHUP"],
  [2, "SIGINT"],
  [3, "SIGQUIT"],
  [4, "SIGILL"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [13, "SIGPIPE"],
  [15, "SIGTERM"],
]);

function signalName(value: unknown): string | null {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0)
    return SIGNALS.get(value) ?? `SIG${value}`;
  return textOf(value)?.toUpperCase() ?? null;
}

/**
 * The facts when the process that carried the guest has ended. Exit 0 is how a VMM leaves when its guest powers off;
 * anything else is the VMM's failure, and a signal somebody's doing.
 */
export function deadProcess(process: HostProcess, options: ObserveOptions): ObservationDraft {
  const draft = present(observedAtOf(options));
  draft.workload = "absent";
  draft.running = false;
  draft.ready = false;
  draft.readiness = "none";
  draft.completed = true;
  draft.backendReason = process.signal ?? "ProcessExited";
  if (process.signal !== null) fail(draft, isOwnStop(options) ? null : "Killed");
  else if (process.exitCode === 0) draft.endedBy = "guest";
  else fail(draft, isOwnStop(options) ? null : "VmmExited");
  return draft;
}

/** A guest that executes and has no readiness of its own to show. */
export function runningGuest(word: string | null, options: ObserveOptions): ObservationDraft {
  const draft = present(observedAtOf(options));
  draft.backendReason = word;
  draft.running = true;
  draft.readiness = "none";
  return draft;
}

/** A guest whose virtual CPUs do not execute. */
export function restingGuest(word: string | null, options: ObserveOptions): ObservationDraft {
  const draft = present(observedAtOf(options));
  draft.backendReason = word;
  draft.running = false;
  draft.ready = false;
  draft.readiness = "none";
  return draft;
}

/** A guest that is held on purpose, and goes on without a new one. */
export function suspendedGuest(word: string | null, options: ObserveOptions): ObservationDraft {
  const draft = restingGuest(word, options);
  draft.suspended = true;
  return draft;
}

/** A guest that executes its own shutdown. */
export function leavingGuest(word: string | null, options: ObserveOptions): ObservationDraft {
  const draft = runningGuest(word, options);
  draft.ready = false;
  draft.terminating = true;
  return draft;
}

/** A guest about which the monitor says nothing that this version can read. */
export function unreadableGuest(word: string | null, options: ObserveOptions): ObservationDraft {
  const draft = present(observedAtOf(options));
  draft.backendReason = word;
  return draft;
}

/** What is left of a run when there is no process: the marks in its state folder. */
export function fromStateFolder(stateDir: unknown, options: ObserveOptions): ObservationDraft | null {
  const folder = objectOf(stateDir);
  const exists = flagOf(member(folder, "exists"));
  if (folder === null || exists === null) return null;
  if (!exists) return absent(observedAtOf(options));
  const draft = restingGuest(null, options);
  draft.workload = "absent";
  draft.bootstrapping = flagOf(folder["bootstrapping"]) === true;
  if (flagOf(folder["mainProcessExitedMarker"]) === true) {
    draft.completed = true;
    draft.backendReason = "ProcessExited";
  } else draft.suspended = true;
  return draft;
}

/** Marks an observation as another run's where the driver's process names its run. */
export function fenced(draft: ObservationDraft, process: unknown, options: ObserveOptions): ObservationDraft {
  draft.instanceId = textOf(member(process, "instanceId"));
  return isForeignInstance(options, draft.instanceId) ? dropOtherRun(draft) : draft;
}

/** A state word for comparing: case, spaces, hyphens and underscores do not matter. */
export function stateWord(value: unknown): string {
  return wordOf(value).replaceAll(/[\s_-]/g, "");
}
