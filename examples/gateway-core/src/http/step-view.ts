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

/** From here on nothing is said of the rate: a step that says nothing has none. */
const RATE_LASTS_MS = 10_000;

/** The step at a later instant than it was read at. */
export function stepAt(step: StepView, now: number): StepView {
  const { startedAt, heardAt, status, perSecond } = step;
  if (status !== "running" || startedAt === null) return step;
  const quietMs = Math.max(now - (heardAt ?? startedAt), 0);
  const elapsedMs = Math.max(now - startedAt, 0);
  return { ...step, elapsedMs, quietMs, perSecond: quietMs < RATE_LASTS_MS ? perSecond : null };
}
