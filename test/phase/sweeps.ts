import type { Observation, Phase, SandboxRecord } from "../../src/phase/index.js";
import { present } from "../../src/phase/observation.js";

/** When the gateway of a sweep starts or ends. */
export const now = 9;
export const mine = { managesLifecycle: true, now } as const;
export const others = { managesLifecycle: false, now } as const;

export const record = (phase: Phase, more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase,
  desired: "running",
  since: 0,
  updatedAt: 0,
  ...more,
});

export const seen = (more: Partial<Observation>): Observation => ({ ...present(null), ...more });
