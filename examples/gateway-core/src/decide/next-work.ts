import { isAtRest, isComingUp } from "../record/phase.js";
import type { Instance, SandboxRecord } from "../record/record.js";
import { mayLaunch } from "./driver-report.js";

/** What this gateway has under way for a sandbox, which no record tells. */
export interface LocalWork {
  /** The run whose supervisor is being watched here, `null` for none. */
  readonly watching: number | null;
}

/** The one thing to do next for a sandbox. */
export type NextWork =
  | { readonly do: "nothing" }
  | { readonly do: "clean-up" }
  | { readonly do: "remove" }
  | { readonly do: "stop" }
  | { readonly do: "begin" }
  | { readonly do: "look"; readonly instance: Instance }
  | { readonly do: "launch" };

/**
 * Decides from the record alone, so that it does not matter who wrote it or whether this process saw it happen: after
 * a crash the same record leads to the same work.
 */
export function nextWork(record: SandboxRecord, local: LocalWork, owner: string, now: number): NextWork {
  const { phase, deadline, instance } = record;
  if (deadline?.cleanup.status === "pending") {
    const { claim } = deadline.cleanup;
    const free =
      claim === null ? now >= record.cleanupNotBefore : claim.owner === owner || now >= claim.until;
    return { do: free ? "clean-up" : "nothing" };
  }
  if (phase === "Deleting") return { do: "remove" };
  if (phase === "Stopping") return { do: "stop" };
  if (record.startPending && isAtRest(phase)) return { do: "begin" };
  if (!isComingUp(phase) && phase !== "Ready") return { do: "nothing" };
  if (instance !== null && local.watching !== instance.run) {
    const busyElsewhere = record.lease !== null && record.lease.owner !== owner && now < record.lease.until;
    return busyElsewhere ? { do: "nothing" } : { do: "look", instance };
  }
  return mayLaunch(record, owner, now) ? { do: "launch" } : { do: "nothing" };
}
