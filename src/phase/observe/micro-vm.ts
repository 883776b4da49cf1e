import type { Observation, ObservationDraft } from "../observation.js";
import { member, objectOf, textOf } from "./json.js";
import {
  deadProcess,
  fenced,
  hostProcess,
  leavingGuest,
  restingGuest,
  runningGuest,
  stateWord,
  suspendedGuest,
  unreadableGuest,
} from "./host-process.js";
import { withoutObject, type ObserveOptions } from "./options.js";

/**
 * Firecracker's instance info (`GET /`) and its process.
 *
 * @public
 */
export interface FirecrackerInput {
  /** The answer as parsed JSON; `null` when the socket does not answer. */
  readonly instanceInfo: unknown;
  /** `{ pid, alive, exitCode, signal }`. */
  readonly process?: unknown;
  /** What the look-up failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

/**
 * cloud-hypervisor's `vm.info` and its process.
 *
 * @public
 */
export interface CloudHypervisorInput {
  /** The answer as parsed JSON; `null` when the socket does not answer. */
  readonly vmInfo: unknown;
  /** `{ pid, alive, exitCode, signal }`. */
  readonly process?: unknown;
  /** What the look-up failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

/**
 * The facts in a Firecracker micro-VM. Total. Knows the state words of every release, among them the earliest and the
 * bare boolean of 0.23.
 *
 * @example
 * ```ts
 * import { observeFirecracker } from "slipway/phase";
 *
 * observeFirecracker({ instanceInfo: { state: "Not started" } }).running; // => false
 * ```
 *
 * @public
 */
export function observeFirecracker(input: FirecrackerInput, options: ObserveOptions = {}): Observation {
  const info = objectOf(member(input, "instanceInfo"));
  const state = info === null ? undefined : (info["state"] ?? info["started"]);
  return microVm(info !== null, firecrackerWord(state), textOf(state) ?? spelled(state), input, options);
}

/**
 * The facts in a cloud-hypervisor VM. Total. `Shutdown` with a live VMM is a guest that powered itself off.
 *
 * @example
 * ```ts
 * import { observeCloudHypervisor } from "slipway/phase";
 *
 * observeCloudHypervisor({ vmInfo: { state: "Shutdown" } }).completed; // => true
 * ```
 *
 * @public
 */
export function observeCloudHypervisor(
  input: CloudHypervisorInput,
  options: ObserveOptions = {},
): Observation {
  const info = objectOf(member(input, "vmInfo"));
  const state = info?.["state"];
  return microVm(info !== null, stateWord(state), textOf(state), input, options);
}

/** Before the word there was a boolean: whether the instance was started. */
function firecrackerWord(state: unknown): string {
  if (typeof state === "boolean") return state ? "running" : "notstarted";
  return stateWord(state);
}

function spelled(state: unknown): string | null {
  return typeof state === "boolean" ? String(state) : null;
}

function microVm(
  answered: boolean,
  word: string,
  spelledState: string | null,
  input: { readonly process?: unknown; readonly error?: unknown },
  options: ObserveOptions,
): Observation {
  const rawProcess = member(input, "process");
  const process = hostProcess(rawProcess);
  if (process?.alive === false) return fenced(deadProcess(process, options), rawProcess, options);
  if (!answered && process?.alive !== true) return withoutObject(member(input, "error"), options);
  return fenced(wordFacts(word, spelledState, options), rawProcess, options);
}

function wordFacts(word: string, spelledState: string | null, options: ObserveOptions): ObservationDraft {
  switch (word) {
    case "notstarted":
    case "uninitialized":
    case "starting":
    case "created":
      return restingGuest(spelledState, options);
    case "running":
      return runningGuest(spelledState, options);
    case "paused":
      return suspendedGuest(spelledState, options);
    case "halting":
      return leavingGuest(spelledState, options);
    case "halted":
    case "shutdown": {
      const draft = restingGuest(spelledState, options);
      draft.completed = true;
      draft.endedBy = "guest";
      return draft;
    }
    default:
      return unreadableGuest(spelledState, options);
  }
}
