import type { Observation } from "../observation.js";
import { member } from "./json.js";
import {
  deadProcess,
  fenced,
  fromStateFolder,
  hostProcess,
  runningGuest,
  unreadableGuest,
} from "./host-process.js";
import { notTheObject, oneObject, type WantedObject } from "./one-object.js";
import { withoutObject, type ObserveOptions } from "./options.js";

/**
 * A plain process and the marks in its state folder.
 *
 * @public
 */
export interface ProcessInput {
  /** `{ pid, alive, exitCode, signal }`; `null` when the driver knows of none, for instance after its own restart. */
  readonly process: unknown;
  /** `{ exists, mainProcessExitedMarker }`, and `bootstrapping` while the driver prepares the folder before a launch. */
  readonly stateDir?: unknown;
  /** For people: never read. */
  readonly consoleTail?: unknown;
  /** What the look-up failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

const PROCESS: WantedObject = {
  said: "process must be one object with alive, exitCode and signal",
  isOne: () => true,
};

/**
 * The facts in a process that a driver launched. Total.
 *
 * The launcher's exit code is not the main process's, so `exitCode` stays unknown. No process over a state folder
 * without an end mark is a sandbox at rest: it can be started again from there.
 *
 * @example
 * ```ts
 * import { observeProcess } from "slipway/phase";
 *
 * observeProcess({ process: { alive: false, exitCode: null, signal: 9 } }).failureReason; // => "Killed"
 * observeProcess({ process: null, stateDir: { exists: true } }).suspended; // => true
 * ```
 *
 * @public
 */
export function observeProcess(input: ProcessInput, options: ObserveOptions = {}): Observation {
  const given = member(input, "process") ?? null;
  const raw = given === null ? null : oneObject(given, PROCESS);
  // What is no process does not say that there is none: the folder alone would make it a sandbox at rest.
  if (typeof raw === "string") return notTheObject(given, raw, member(input, "error"), options);
  const process = hostProcess(raw);
  if (process === null) {
    const folder = fromStateFolder(member(input, "stateDir"), options);
    return folder ?? withoutObject(member(input, "error"), options);
  }
  if (process.alive === null) return fenced(unreadableGuest(null, options), raw, options);
  const draft = process.alive ? runningGuest("running", options) : deadProcess(process, options);
  return fenced(draft, raw, options);
}
