import { derivePhase } from "../../src/phase/derive-phase.js";
import type { Observation } from "../../src/phase/observation.js";
import type { DesiredState, SandboxRecord } from "../../src/phase/record.js";

export const ready: SandboxRecord = { phase: "Ready", desired: "running", since: 0 };
const starting: SandboxRecord = { phase: "Starting", desired: "running", since: 0 };
export const stopping: SandboxRecord = { phase: "Stopping", desired: "stopped", since: 0 };

/** The phases that a Ready, a Starting and a Stopping record come to. */
export function phases(observe: (options: { run: { desired: DesiredState } }) => Observation): string[] {
  return [ready, starting, stopping].map((record) => {
    const observation = observe({ run: { desired: record.desired } });
    return derivePhase({ record, observation, now: 0 }).phase;
  });
}

export const alive = { pid: 1, alive: true };
