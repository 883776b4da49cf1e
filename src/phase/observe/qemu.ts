import type { Observation, ObservationDraft } from "../observation.js";
import { at, flagOf, integerOf, member, objectsOf, textOf, wordOf, type JsonObject } from "./json.js";
import { fail } from "./failure.js";
import {
  deadProcess,
  fenced,
  hostProcess,
  restingGuest,
  runningGuest,
  suspendedGuest,
  unreadableGuest,
} from "./host-process.js";
import { notTheObject, oneObject, type WantedObject } from "./one-object.js";
import { isOwnStop, withoutObject, type ObserveOptions } from "./options.js";

/**
 * What QEMU's monitor and its launcher show.
 *
 * @public
 */
export interface QemuInput {
  /** The reply to `query-status`: `{ return: { status, running } }`, or `{ error }`. */
  readonly qmp: unknown;
  /** The launcher process `{ pid, alive, exitCode, signal }`. */
  readonly process?: unknown;
  /** QMP events, in any order. */
  readonly events?: unknown;
  /** What the look-up failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

/** A reply that says an error is one too, and of which nothing is learnt. */
const REPLY: WantedObject = {
  said: "qmp must be the reply to query-status, with return.status",
  isOne: (object) => "error" in object,
};

/**
 * The facts in a QEMU guest. Total.
 *
 * A monitor that does not answer is no dead guest as long as the process lives, and a process that has ended beats
 * whatever the monitor said before. `paused` is somebody's wish; a pause for a fault is that fault.
 *
 * @example
 * ```ts
 * import { observeQemu } from "slipway/phase";
 *
 * observeQemu({ qmp: { return: { status: "guest-panicked" } } }).failureReason; // => "GuestPanicked"
 * observeQemu({ qmp: { error: { transport: "timeout" } }, process: { alive: true } }).running; // => null
 * ```
 *
 * @public
 */
export function observeQemu(input: QemuInput, options: ObserveOptions = {}): Observation {
  const rawProcess = member(input, "process");
  const process = hostProcess(rawProcess);
  const events = objectsOf(member(input, "events"));
  if (process?.alive === false) {
    const draft = deadProcess(process, options);
    blameShutdown(draft, events, options);
    return fenced(draft, rawProcess, options);
  }
  const status = textOf(at(input, "qmp", "return", "status"));
  if (status === null && process === null) {
    const qmp = member(input, "qmp");
    const reply = oneObject(qmp, REPLY);
    const error = member(input, "error");
    return typeof reply === "string"
      ? notTheObject(qmp, reply, error, options)
      : withoutObject(error, options);
  }
  return fenced(statusFacts(status, input, events, options), rawProcess, options);
}

function statusFacts(
  status: string | null,
  input: QemuInput,
  events: readonly JsonObject[],
  options: ObserveOptions,
): ObservationDraft {
  switch (wordOf(status)) {
    case "running":
      return runningGuest(status, options);
    case "prelaunch":
    case "preconfig":
    case "inmigrate":
    case "restore-vm":
      return restingGuest(status, options);
    case "paused":
    case "suspended":
      return suspendedGuest(status, options);
    case "io-error":
      return fail(restingGuest(status, options), "GuestIOError", "transient");
    case "watchdog":
      return fail(restingGuest(status, options), "WatchdogFired");
    case "guest-panicked":
      return fail(restingGuest(status, options), "GuestPanicked");
    case "internal-error":
      return fail(restingGuest(status, options), "VmmInternalError");
    case "shutdown": {
      const draft = restingGuest(status, options);
      draft.completed = true;
      draft.endedBy = "guest";
      blameShutdown(draft, events, options);
      return draft;
    }
    case "save-vm":
    case "finish-migrate": {
      const draft = unreadableGuest(status, options);
      draft.running = flagOf(at(input, "qmp", "return", "running"));
      draft.ready = draft.running === false ? false : null;
      draft.stale = true;
      return draft;
    }
    default:
      // colo, postmigrate, debug and words of a newer QEMU: the guest may execute, here or elsewhere.
      return unreadableGuest(status, options);
  }
}

/** Who ended the guest, by the latest SHUTDOWN event; without one, what the status word alone says stands. */
function blameShutdown(
  draft: ObservationDraft,
  events: readonly JsonObject[],
  options: ObserveOptions,
): void {
  if (latest(events, "GUEST_PANICKED") !== null || latest(events, "GUEST_CRASHLOADED") !== null)
    fail(draft, "GuestPanicked");
  const shutdown = latest(events, "SHUTDOWN");
  if (shutdown === null) return;
  const cause = wordOf(at(shutdown, "data", "reason"));
  if (cause === "guest-panic") fail(draft, "GuestPanicked");
  else if (cause.startsWith("guest-") || (cause === "" && at(shutdown, "data", "guest") === true)) {
    draft.endedBy = "guest";
    if (draft.failureReason !== "GuestPanicked") fail(draft, null);
  } else if (cause.startsWith("host-") || at(shutdown, "data", "guest") === false) {
    draft.endedBy = "host";
    if (cause === "host-error" && !isOwnStop(options)) fail(draft, "VmmInternalError");
    else if (draft.failureReason === null && !isOwnStop(options)) fail(draft, "Killed");
  }
}

function latest(events: readonly JsonObject[], name: string): JsonObject | null {
  let found: JsonObject | null = null;
  for (const event of events) {
    if (wordOf(event["event"]) !== name.toLowerCase()) continue;
    if (found === null || later(event, found)) found = event;
  }
  return found;
}

/** Later in time; of two at one instant, the one whose cause sorts first, so that order in the array means nothing. */
function later(event: JsonObject, than: JsonObject): boolean {
  const order = stamp(event) - stamp(than);
  if (order !== 0) return order > 0;
  return wordOf(at(event, "data", "reason")) < wordOf(at(than, "data", "reason"));
}

function stamp(event: JsonObject): number {
  const seconds = integerOf(at(event, "timestamp", "seconds")) ?? 0;
  const micros = integerOf(at(event, "timestamp", "microseconds")) ?? 0;
  return seconds * 1_000_000 + micros;
}
