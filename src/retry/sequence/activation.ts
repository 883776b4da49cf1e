import { SlipwayError } from "../../errors.js";

/**
 * Where the activation of one instance stands. `none` is the absence of an entry.
 *
 * @public
 */
export type ActivationState = "activating" | "active" | "stopped" | "completed";

/**
 * What a ledger keeps for one instance id. Plain JSON.
 *
 * @public
 */
export interface ActivationEntry {
  /** Where it stands. */
  readonly state: ActivationState;
  /**
   * What compare-and-swap compares. Grows by one with every change, from a first number that is the claim's own: an
   * entry may be removed, and a message that was about it must not fit the one that comes after it. It takes up to 53
   * bits, which a column of 32 bits (`int4`) does not hold.
   */
  readonly version: number;
  /** Who took the instance to `activating`: tells a claim of one's own from another's. */
  readonly claim: string | null;
  /** Epoch milliseconds of the last change. */
  readonly at: number;
}

/**
 * Where activations are kept: one entry per instance id, changed by compare-and-swap only.
 *
 * @public
 */
export interface ActivationLedger {
  /** The entry, or `null` when there is none. Must not be older than the last successful swap. */
  read(instanceId: string): ActivationEntry | null | PromiseLike<ActivationEntry | null>;
  /**
   * Replaces the entry when its version is still `expectedVersion` (`null`: there is no entry), atomically. `next` is
   * `null` to remove it.
   *
   * @returns Whether it was replaced. A rejection leaves that open.
   */
  compareAndSwap(
    instanceId: string,
    expectedVersion: number | null,
    next: ActivationEntry | null,
  ): boolean | PromiseLike<boolean>;
}

/** What may happen to an activation. */
export type ActivationEvent =
  | {
      /** Somebody takes the right to start the workload. */
      readonly type: "claim";
      /** Minted for this claim, and never used again. */
      readonly claim: string;
    }
  | {
      /** The workload was started. */
      readonly type: "started";
      /** The claim under which it was. */
      readonly claim: string;
    }
  | {
      /** Somebody wants it not to run. */
      readonly type: "stop";
    }
  | {
      /** It ended by itself. */
      readonly type: "complete";
    };

/** Either the next entry, or why there is none. */
export type ActivationStep =
  | {
      /** The event took effect. */
      readonly applied: true;
      /** The entry to store. */
      readonly next: ActivationEntry;
    }
  | {
      /** The event was refused. */
      readonly applied: false;
      /** What stands in the way. */
      readonly why: "active" | "stopped" | "completed" | "uncertain" | "not-started";
    };

/**
 * The rules of an activation, pure: `(entry, event, now) -> next entry`.
 *
 * Only an instance without an entry can be claimed, so a workload starts at most once for an instance id. `stopped`
 * and `completed` are final. A stop wins over everything but those two, and a claim that was not started yet never
 * becomes active after it.
 *
 * @example
 * ```ts
 * import { applyActivation } from "slipway/retry";
 *
 * const stopped = applyActivation(null, { type: "stop" }, 0);
 * stopped.applied && applyActivation(stopped.next, { type: "claim", claim: "a" }, 1); // => { applied: false, why: "stopped" }
 * ```
 *
 * @public
 */
export function applyActivation(
  entry: ActivationEntry | null,
  event: ActivationEvent,
  now: number,
): ActivationStep {
  const to = (state: ActivationState, claim: string | null): ActivationStep => ({
    applied: true,
    next: { state, version: (entry?.version ?? versionBefore(claim)) + 1, claim, at: now },
  });
  if (entry?.state === "stopped" || entry?.state === "completed") return { applied: false, why: entry.state };
  switch (event.type) {
    case "claim":
      if (entry === null) return to("activating", event.claim);
      return { applied: false, why: entry.state === "active" ? "active" : "uncertain" };
    case "started":
      if (entry === null) return { applied: false, why: "not-started" };
      // A ledger may hold a word of a newer version, which is not known to lead to `active`.
      if (entry.state === "activating" && entry.claim === event.claim) return to("active", entry.claim);
      return { applied: false, why: entry.state === "active" ? "active" : "uncertain" };
    case "stop":
      return to("stopped", entry?.claim ?? null);
    case "complete":
      return entry === null ? { applied: false, why: "not-started" } : to("completed", entry.claim);
  }
}

/**
 * A number for a claim: 52 bits, so that two claims share one about once in 4 500 000 000 000 000 pairs, and many
 * changes fit above it. An entry without a claim is never removed, so its number need not be its own.
 */
function versionBefore(claim: string | null): number {
  if (claim === null) return 0;
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let index = 0; index < claim.length; index += 1) {
    const unit = claim.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x85ebca6b);
    low ^= low >>> 15;
  }
  return (mixed(high) >>> 6) * 2 ** 26 + (mixed(low ^ high) >>> 6);
}

/** Spreads what differs in the last characters over all bits. */
function mixed(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}

/** The stored entry. A ledger over a `Map` answers `undefined` where there is none. */
export async function readEntry(
  ledger: ActivationLedger,
  instanceId: string,
): Promise<ActivationEntry | null> {
  return (await ledger.read(instanceId)) ?? null;
}

/** Writes that are tried again when somebody else wrote in between. Each loss is another's progress. */
const MOST_CONFLICTS = 100;

/**
 * Applies an event to the stored entry, again when another writer came first.
 *
 * @returns The entry that holds afterwards, and whether it was this event that made it.
 */
export async function recordActivation(
  ledger: ActivationLedger,
  instanceId: string,
  event: ActivationEvent,
  now: () => number,
): Promise<{ readonly entry: ActivationEntry | null; readonly step: ActivationStep }> {
  for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts += 1) {
    const entry = await readEntry(ledger, instanceId);
    const step = applyActivation(entry, event, now());
    if (!step.applied) return { entry, step };
    if (await ledger.compareAndSwap(instanceId, entry?.version ?? null, step.next))
      return { entry: step.next, step };
  }
  throw new SlipwayError("COMMIT_FAILED", `The activation ledger refused ${MOST_CONFLICTS} writes in a row`, {
    field: "instanceId",
    value: instanceId,
  });
}

/**
 * An explicit stop: written to the key that an activation has to take, so that exactly one of the two wins.
 *
 * @returns The entry before which the stop came too late (`completed`), or the `stopped` one. `workloadMayRun` says
 * that an activation came first, so the workload has to be stopped as well; a stop that is repeated, because the one
 * before did not get that far, says so again.
 *
 * @public
 */
export async function stopActivation(
  ledger: ActivationLedger,
  instanceId: string,
  now: number,
): Promise<{
  /** The entry that holds afterwards. */
  readonly entry: ActivationEntry;
  /** Whether the workload has to be stopped as well. */
  readonly workloadMayRun: boolean;
}> {
  const { entry } = await recordActivation(ledger, instanceId, { type: "stop" }, () => now);
  if (entry === null) throw new SlipwayError("COMMIT_FAILED", "The ledger lost the entry of a stop");
  return { entry, workloadMayRun: entry.state === "stopped" && entry.claim !== null };
}

/**
 * The workload ended by itself: it is never started again for this instance.
 *
 * @public
 */
export async function completeActivation(
  ledger: ActivationLedger,
  instanceId: string,
  now: number,
): Promise<ActivationEntry | null> {
  return (await recordActivation(ledger, instanceId, { type: "complete" }, () => now)).entry;
}
