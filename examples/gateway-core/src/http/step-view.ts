import { readSteps, type StepReading } from "slipway/progress";
import type { SandboxRecord } from "../record/record.js";

/** A step as the library reads it, and when it was last heard of, so that who shows it can let the time go on. */
export interface StepView extends StepReading {
  readonly heardAt: number | null;
}

/** Where the steps of an attempt stand. Of one that is over no step goes on: time ends with the last word of it. */
export function stepViews({ steps, deadline }: SandboxRecord, now: number): readonly StepView[] {
  const at = deadline?.status === "active" ? now : steps.observedAt;
  return readSteps(steps, at).map((reading, index) => ({
    ...reading,
    heardAt: steps.steps[index]?.heardAt ?? null,
  }));
}

/** The step at a later instant than it was read at. */
export function stepAt(step: StepView, now: number): StepView {
  const { startedAt, heardAt, status } = step;
  if (status !== "running" || startedAt === null) return step;
  const quietMs = Math.max(now - (heardAt ?? startedAt), 0);
  return { ...step, elapsedMs: Math.max(now - startedAt, 0), quietMs };
}
