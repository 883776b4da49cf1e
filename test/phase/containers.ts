import { derivePhase } from "../../src/phase/derive-phase.js";
import type { SandboxRecord } from "../../src/phase/record.js";
import { observePodmanInspect } from "../../src/phase/observe/podman.js";

export const FINISHED = "2026-10-20T11:40:02.910283746Z";
export const starting: SandboxRecord = { phase: "Starting", desired: "running", since: 0 };
export const stopping: SandboxRecord = { phase: "Stopping", desired: "stopped", since: 0 };

export function state(more: Record<string, unknown>): { State: Record<string, unknown> } {
  return {
    State: { Running: false, StartedAt: "2026-10-20T09:02:08Z", FinishedAt: "0001-01-01T00:00:00Z", ...more },
  };
}

export function phaseOf(inspect: unknown, record: SandboxRecord): string {
  const observation = observePodmanInspect({ inspect }, { run: { desired: record.desired } });
  return derivePhase({ record, observation, now: 0 }).phase;
}
