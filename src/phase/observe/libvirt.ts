import type { Observation, ObservationDraft } from "../observation.js";
import { flagOf, integerOf, member, textOf } from "./json.js";
import { fail } from "./failure.js";
import { leavingGuest, restingGuest, runningGuest, suspendedGuest, unreadableGuest } from "./host-process.js";
import { notTheObject, oneObject, type WantedObject } from "./one-object.js";
import { dropOtherRun, isForeignInstance, isOwnStop, type ObserveOptions } from "./options.js";

/**
 * A libvirt domain's state, or what the look-up failed with.
 *
 * @public
 */
export interface LibvirtInput {
  /** `{ state, reason, managedSave }` with libvirt's numbers, and `bootstrapping` while the driver prepares the domain. */
  readonly domain: unknown;
  /** What the look-up failed with: only a definite not-found says that there is nothing. */
  readonly error?: unknown;
}

/** An entry that says nothing of any of these is no domain, or one of which nothing is known yet. */
const FIELDS = ["state", "reason", "managedSave", "bootstrapping", "instanceId"];

const DOMAIN: WantedObject = {
  said: "domain must be one object with state",
  isOne: (object) => FIELDS.some((field) => member(object, field) !== undefined),
};

/** Names of libvirt's states and, in order, of their reasons. */
const STATES: readonly (readonly [name: string, reasons: readonly string[]])[] = [
  ["NOSTATE", ["UNKNOWN"]],
  [
    "RUNNING",
    [
      "UNKNOWN",
      "BOOTED",
      "MIGRATED",
      "RESTORED",
      "FROM_SNAPSHOT",
      "UNPAUSED",
      "MIGRATION_CANCELED",
      "SAVE_CANCELED",
      "WAKEUP",
      "CRASHED",
      "POSTCOPY",
      "POSTCOPY_FAILED",
    ],
  ],
  ["BLOCKED", ["UNKNOWN"]],
  [
    "PAUSED",
    [
      "UNKNOWN",
      "USER",
      "MIGRATION",
      "SAVE",
      "DUMP",
      "IOERROR",
      "WATCHDOG",
      "FROM_SNAPSHOT",
      "SHUTTING_DOWN",
      "SNAPSHOT",
      "CRASHED",
      "STARTING_UP",
      "POSTCOPY",
      "POSTCOPY_FAILED",
      "API_ERROR",
    ],
  ],
  ["SHUTDOWN", ["UNKNOWN", "USER"]],
  [
    "SHUTOFF",
    ["UNKNOWN", "SHUTDOWN", "DESTROYED", "CRASHED", "MIGRATED", "SAVED", "FAILED", "FROM_SNAPSHOT", "DAEMON"],
  ],
  ["CRASHED", ["UNKNOWN", "PANICKED"]],
  ["PMSUSPENDED", ["UNKNOWN"]],
];

/**
 * The facts in a libvirt domain. Total: a state or reason number of a newer libvirt moves nothing.
 *
 * Paused and shut off mean what their reasons say: a wish, a fault, a migration, an end.
 *
 * @example
 * ```ts
 * import { observeLibvirt } from "slipway/phase";
 *
 * observeLibvirt({ domain: { state: 3, reason: 1 } }).suspended; // => true
 * observeLibvirt({ domain: { state: 3, reason: 5 } }).failureReason; // => "GuestIOError"
 * ```
 *
 * @public
 */
export function observeLibvirt(input: LibvirtInput, options: ObserveOptions = {}): Observation {
  const given = member(input, "domain");
  const domain = oneObject(given, DOMAIN);
  if (typeof domain === "string") return notTheObject(given, domain, member(input, "error"), options);
  const state = integerOf(domain["state"]);
  const reason = integerOf(domain["reason"]);
  const draft = stateFacts(state, reason, flagOf(domain["managedSave"]) === true, options);
  draft.instanceId = textOf(domain["instanceId"]);
  draft.bootstrapping = flagOf(domain["bootstrapping"]) === true;
  return isForeignInstance(options, draft.instanceId) ? dropOtherRun(draft) : draft;
}

function nameOf(state: number | null, reason: number | null): string | null {
  if (state === null) return null;
  const known = STATES[state];
  if (known === undefined) return String(state);
  return `${known[0]}_${known[1][reason ?? 0] ?? String(reason)}`;
}

function stateFacts(
  state: number | null,
  reason: number | null,
  managedSave: boolean,
  options: ObserveOptions,
): ObservationDraft {
  const name = nameOf(state, reason);
  switch (state) {
    case 1:
    case 2:
      return runningGuest(name, options);
    case 3:
      return paused(name, reason, options);
    case 4:
      // The guest still runs its own shutdown, or is held in the middle of one.
      return leavingGuest(name, options);
    case 5:
      return shutOff(name, reason, managedSave, options);
    case 6: {
      const draft = fail(restingGuest(name, options), "GuestPanicked");
      draft.completed = true;
      return draft;
    }
    case 7:
      return suspendedGuest(name, options);
    default:
      return unreadableGuest(name, options);
  }
}

function paused(name: string | null, reason: number | null, options: ObserveOptions): ObservationDraft {
  switch (reason) {
    case 1:
    case 7:
    case 9:
      return suspendedGuest(name, options);
    case 5:
      return fail(restingGuest(name, options), "GuestIOError", "transient");
    case 6:
      return fail(restingGuest(name, options), "WatchdogFired");
    case 8: {
      const draft = restingGuest(name, options);
      draft.terminating = true;
      return draft;
    }
    case 10:
      return fail(restingGuest(name, options), "GuestPanicked");
    case 11:
      return restingGuest(name, options);
    case 3:
    case 4: {
      // Held for a save or a dump: it does not execute, and what follows is not known.
      const draft = restingGuest(name, options);
      draft.stale = true;
      return draft;
    }
    default:
      // A migration, or a reason of a newer libvirt: the guest may execute elsewhere.
      return unreadableGuest(name, options);
  }
}

function shutOff(
  name: string | null,
  reason: number | null,
  managedSave: boolean,
  options: ObserveOptions,
): ObservationDraft {
  const draft = restingGuest(name, options);
  draft.workload = "absent";
  if (managedSave) {
    draft.suspended = true;
    return draft;
  }
  switch (reason) {
    case 1:
      draft.completed = true;
      draft.endedBy = "guest";
      return draft;
    case 2:
    case 8:
      draft.completed = true;
      draft.endedBy = "host";
      return isOwnStop(options) ? draft : fail(draft, "Killed");
    case 3:
      draft.completed = true;
      return fail(draft, "GuestPanicked");
    case 0:
    case 5:
    case 7:
      // Saved, or only defined, as after a restart of libvirt or of the host: it can be started from there.
      draft.suspended = true;
      return draft;
    case 6:
      return fail(draft, "VmmStartFailed");
    case 4:
      return unreadableGuest(name, options);
    default:
      // A reason of a newer libvirt: it does not execute, and no more is known.
      draft.completed = null;
      draft.suspended = null;
      return draft;
  }
}
