import { FAILURE_CLASSES, type FailureCounts } from "../gateway/observer.js";

/** Attempts of a bootstrap that failed since the supervisor last said so: `transient=3, suspect=1`. */
export const FAILURES_HEADER = "x-slipway-failures";

/** More in one report is nothing that a supervisor counted. */
const MOST = 9999;

export function writeFailures(counts: FailureCounts): string {
  return FAILURE_CLASSES.flatMap((name) => {
    const count = Math.min(counts[name] ?? 0, MOST);
    return count > 0 ? [`${name}=${count}`] : [];
  }).join(", ");
}

/** Whatever is not exactly what a supervisor writes counts for nothing. */
export function readFailures(text: string | undefined): FailureCounts {
  const counts: Record<string, number> = {};
  for (const part of (text ?? "").slice(0, 200).split(", ")) {
    const [, name, count] = /^([a-z]+)=(\d{1,4})$/.exec(part) ?? [];
    if (name !== undefined && FAILURE_CLASSES.some((known) => known === name)) counts[name] = Number(count);
  }
  return counts;
}
