import type { ExpectedRun, Observation } from "slipway";

/** Names the run that was seen by the gateway's own id, and marks news of another run than the expected one as stale. */
export function seenInstance(seen: Observation, instanceId: string | null, run: ExpectedRun): Observation {
  const expected = run.instanceId ?? null;
  const foreign = expected !== null && instanceId !== null && instanceId !== expected;
  return { ...seen, instanceId, stale: seen.stale || foreign };
}

/** A supervisor that is gone without having reported an end has a name of its own in this gateway's catalog. */
export function namedLoss(seen: Observation): Observation {
  if (seen.failureReason !== "VmmExited") return seen;
  const message = "the supervisor ended without reporting an exit";
  return { ...seen, failureReason: "LocalSupervisorLost", message };
}
