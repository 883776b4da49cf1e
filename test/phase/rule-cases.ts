import { derivePhase } from "../../src/phase/derive-phase.js";
import { present, type Observation } from "../../src/phase/observation.js";
import type { SandboxRecord } from "../../src/phase/record.js";
import { NOW } from "./decisions.js";

export const seen = (facts: Partial<Observation>): Observation => ({ ...present(NOW), ...facts });
export const over = { completed: true, running: false, ready: false } as const;
export const stopped = { desired: "stopped" } as const;

export interface Case {
  readonly from: SandboxRecord;
  readonly observation: Observation | null;
  readonly live?: boolean;
}

export function decide({ from, observation, live = false }: Case) {
  return derivePhase({ record: from, observation, session: { connected: live }, now: NOW });
}
