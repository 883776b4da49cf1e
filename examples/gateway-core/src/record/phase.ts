/** Where a sandbox stands, as the gateway's record says it. */
export const PHASES = [
  "Provisioning",
  "Starting",
  "Ready",
  "Stopping",
  "Stopped",
  "Completed",
  "Error",
  "Deleting",
] as const;

export type Phase = (typeof PHASES)[number];

/** What the user asked for last. */
export const INTENTS = ["running", "stopped", "deleted"] as const;

export type Intent = (typeof INTENTS)[number];

/** Phases in which an attempt brings a workload up. */
export function isComingUp(phase: Phase): boolean {
  return phase === "Provisioning" || phase === "Starting";
}

/** Phases that a start may leave. */
export function isAtRest(phase: Phase): boolean {
  return phase === "Stopped" || phase === "Completed" || phase === "Error";
}
