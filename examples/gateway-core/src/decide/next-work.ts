import { isAtRest, isComingUp } from "../record/phase.js";
import type { Instance, SandboxRecord } from "../record/record.js";
import { mayLaunch } from "./driver-report.js";
import type { Surroundings } from "./gates.js";
import { mayRestart } from "./restart.js";
import { isLaunchOutstanding, isLostRun, isStray, type Seen } from "./seen.js";

/** What this gateway knows beside the record. */
export interface LocalWork {
  readonly owner: string;
  /** The latest look at the sandbox, `null` for none. */
  readonly seen: Seen | null;
  readonly around: Surroundings;
}

/** The one thing to do next for a sandbox. */
export type NextWork =
  | { readonly do: "nothing" }
  | { readonly do: "clean-up" }
  | { readonly do: "remove" }
  | { readonly do: "stop" }
  | { readonly do: "begin" }
  | { readonly do: "schedule-restart" }
  | { readonly do: "restart" }
  | { readonly do: "look"; readonly instance: Instance }
  | { readonly do: "launch" }
  | { readonly do: "end-lost-run"; readonly instance: Instance; readonly seen: Seen }
  | { readonly do: "end-stray" };

/**
 * Decides from the record and what was seen, so that it does not matter who wrote it or whether this process saw it
 * happen: after a crash the same record leads to the same work.
 */
export function nextWork(record: SandboxRecord, local: LocalWork, now: number): NextWork {
  const { phase, desired, deadline, instance, restartAt } = record;
  const { owner, seen, around } = local;
  if (deadline?.cleanup.status === "pending") {
    const { claim } = deadline.cleanup;
    const free =
      claim === null ? now >= record.cleanupNotBefore : claim.owner === owner || now >= claim.until;
    return { do: free ? "clean-up" : "nothing" };
  }
  if (desired === "deleted") return { do: "remove" };
  if (phase === "Stopping" && desired === "stopped") return { do: "stop" };
  if (record.startPending && isAtRest(phase)) return { do: "begin" };
  if (mayRestart(record, around, now)) return { do: "schedule-restart" };
  if (phase === "Starting" && restartAt !== null && now >= restartAt) return { do: "restart" };
  if (seen !== null && isStray(record, seen)) return { do: "end-stray" };
  if (seen !== null && instance !== null && isLostRun(record, seen))
    return { do: "end-lost-run", instance, seen };
  if (!isComingUp(phase) || !isLaunchOutstanding(record)) return { do: "nothing" };
  if (instance !== null) {
    const busyElsewhere = record.lease !== null && record.lease.owner !== owner && now < record.lease.until;
    return busyElsewhere ? { do: "nothing" } : { do: "look", instance };
  }
  // A start on another isolation backend than the sandbox is pinned to cannot succeed.
  if (around.backendMatches === false) return { do: "nothing" };
  return mayLaunch(record, owner, now) ? { do: "launch" } : { do: "nothing" };
}
