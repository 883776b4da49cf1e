import { formatBytes } from "../page/quantities.js";
import { runningLabel } from "../page/steps.js";
import type { StepView } from "../record/record.js";

export { formatBytes };

/** A duration as people say it: `0.4s`, `4.2s`, `3m02s`, `1h04m`. */
export function formatElapsed(ms: number): string {
  if (ms < 59_950) return `${(Math.max(ms, 0) / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  const pad = (value: number): string => String(value).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h${pad(Math.floor((seconds % 3600) / 60))}m`;
}

/** A finished step: `✓ Image copied (node-v20, 312 MB) (4.2s)`. */
export function formatFinished(step: StepView): string {
  const size = step.unit === "bytes" && step.position !== null ? `, ${formatBytes(step.position)}` : "";
  const elapsed = formatElapsed((step.finishedAt ?? step.updatedAt) - step.startedAt);
  return `✓ ${step.label} (${step.subject}${size}) (${elapsed})`;
}

/** A step under way. Without a known total there is no percentage, and elapsed time is always there. */
export function formatRunning(step: StepView, now: number): string {
  const elapsedMs = now - step.startedAt;
  const parts = [step.subject];
  if (step.unit === "bytes" && step.position !== null) {
    const of = step.total === null ? "" : ` of ${formatBytes(step.total)}`;
    parts.push(`${formatBytes(step.position)}${of}`);
    const worked = step.updatedAt - step.startedAt;
    if (worked > 0) parts.push(`${formatBytes((step.position / worked) * 1000)}/s`);
    // Below 100 until the step says that it is finished: the last byte is not the end of the work.
    if (step.total !== null && step.total > 0) {
      parts.push(`${Math.min(Math.floor((step.position / step.total) * 100), 99)} %`);
    }
  }
  parts.push(formatElapsed(elapsedMs));
  return `… ${runningLabel(step.label)}: ${parts.join(", ")}`;
}
