import type { DesiredState, Phase as SlipwayPhase } from "slipway";

/** Where a sandbox stands: the library's phases. A deleted sandbox has no record to say so. */
export type Phase = SlipwayPhase;

/** What the user asked for last. */
export const INTENTS = ["running", "stopped", "deleted"] as const satisfies DesiredState[];

export type Intent = (typeof INTENTS)[number];

/** Phases in which an attempt brings a workload up. */
export function isComingUp(phase: Phase): boolean {
  return phase === "Provisioning" || phase === "Starting";
}

/** Phases that a start may leave. */
export function isAtRest(phase: Phase): boolean {
  return phase === "Stopped" || phase === "Completed" || phase === "Error";
}
