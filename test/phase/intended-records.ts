import { present, type Observation } from "../../src/phase/observation.js";
import type { SandboxRecord } from "../../src/phase/record.js";

export const record = (phase: SandboxRecord["phase"], more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase,
  desired:
    phase === "Stopping" || phase === "Stopped" ? "stopped" : phase === "Deleting" ? "deleted" : "running",
  since: 0,
  ...more,
});

export const seen = (more: Partial<Observation>): Observation => ({ ...present(null), ...more });
