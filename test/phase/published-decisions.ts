import {
  derivePhase,
  type Observation,
  type PhaseDecision,
  type SandboxRecord,
} from "../../src/phase/index.js";

export const NOW = Date.UTC(2026, 0, 1);
const records = (
  ["Provisioning", "Starting", "Ready", "Stopping", "Stopped", "Error", "Unknown"] as const
).flatMap((phase) =>
  (["running", "stopped"] as const).map((desired): SandboxRecord => ({ phase, desired, since: NOW - 1000 })),
);

export function decisionsOf(observation: Observation): PhaseDecision[] {
  return records.map((record) => derivePhase({ record, observation, now: NOW }));
}
