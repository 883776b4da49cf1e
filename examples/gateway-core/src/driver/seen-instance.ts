import type { ExpectedRun, Observation } from "slipway";

/** Names the run that was seen by the gateway's own id, and marks news of another run than the expected one as stale. */
export function seenInstance(seen: Observation, instanceId: string | null, run: ExpectedRun): Observation {
  const expected = run.instanceId ?? null;
  const foreign = expected !== null && instanceId !== null && instanceId !== expected;
  return { ...seen, instanceId, stale: seen.stale || foreign };
}
