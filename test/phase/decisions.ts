import { derivePhase, type PhaseDecision } from "../../src/phase/derive-phase.js";
import type { PhaseInput } from "../../src/phase/evidence.js";
import { present, type Observation } from "../../src/phase/observation.js";
import type { SandboxRecord } from "../../src/phase/record.js";

export const NOW = 1_000_000;
export const record = (phase: SandboxRecord["phase"], more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase,
  desired: "running",
  since: 0,
  ...more,
});
export const up: Observation = { ...present(NOW), running: true, ready: true, readiness: "signal" };
export const empty: Observation = {
  ...present(NOW),
  running: false,
  ready: false,
  suspended: true,
  workload: "absent",
};

export function decide(
  from: SandboxRecord,
  observation: Observation | null,
  more: Partial<PhaseInput> = {},
): PhaseDecision {
  return derivePhase({ record: from, observation, now: NOW, ...more });
}
