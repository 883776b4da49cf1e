import { formatStep } from "slipway/progress";
import { runningLabel } from "../page/steps.js";
import type { StepView } from "../record/record.js";

/** A finished step: `✓ Image copied (node-v20, 312.4 MB) (4.2s)`. */
export function formatFinished(step: StepView): string {
  return lineOf(step, (step.finishedAt ?? step.updatedAt) - step.startedAt, true);
}

/** A step under way. Without a known total there is no percentage, and elapsed time is always there. */
export function formatRunning(step: StepView, now: number): string {
  return lineOf(step, now - step.startedAt, false);
}

function lineOf(step: StepView, elapsedMs: number, finished: boolean): string {
  const { label, subject, unit, total } = step;
  const position = unit === "bytes" ? step.position : null;
  const worked = step.updatedAt - step.startedAt;
  return formatStep({
    label,
    activeLabel: runningLabel(label),
    subject,
    position,
    total,
    unit,
    elapsedMs,
    finished,
    perSecond: position !== null && worked > 0 ? (position / worked) * 1000 : null,
  });
}
