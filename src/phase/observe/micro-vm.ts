import type { Observation, ObservationDraft } from "../observation.js";
import { member, textOf, type JsonObject } from "./json.js";
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
import { notTheObject, oneObject, type WantedObject } from "./one-object.js";
import type { ObserveOptions } from "./options.js";

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

const INSTANCE_INFO: WantedObject = {
  said: "instanceInfo must be one object with state",
  isOne: () => true,
};

const VM_INFO: WantedObject = { said: "vmInfo must be one object with state", isOne: () => true };

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
  const given = member(input, "instanceInfo");
  const info = oneObject(given, INSTANCE_INFO);
  const state = typeof info === "string" ? undefined : (info["state"] ?? info["started"]);
  const answer = { given, info, word: firecrackerWord(state), spelled: textOf(state) ?? spelled(state) };
  return microVm(answer, input, options);
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
  const given = member(input, "vmInfo");
  const info = oneObject(given, VM_INFO);
  const state = typeof info === "string" ? undefined : info["state"];
  return microVm({ given, info, word: stateWord(state), spelled: textOf(state) }, input, options);
}

/** Before the word there was a boolean: whether the instance was started. */
function firecrackerWord(state: unknown): string {
  if (typeof state === "boolean") return state ? "running" : "notstarted";
  return stateWord(state);
}

function spelled(state: unknown): string | null {
  return typeof state === "boolean" ? String(state) : null;
}

/** What the API answered: the object, or what was found in its place, and the state word in it. */
interface Answer {
  readonly given: unknown;
  readonly info: JsonObject | string;
  readonly word: string;
  readonly spelled: string | null;
}

function microVm(
  { given, info, word, spelled: spelledState }: Answer,
  input: { readonly process?: unknown; readonly error?: unknown },
  options: ObserveOptions,
): Observation {
  const rawProcess = member(input, "process");
  const process = hostProcess(rawProcess);
  if (process?.alive === false) return fenced(deadProcess(process, options), rawProcess, options);
  if (typeof info === "string" && process?.alive !== true)
    return notTheObject(given, info, member(input, "error"), options);
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
