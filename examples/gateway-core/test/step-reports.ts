import { recordProgress } from "../src/decide/progress-report.js";
import type { DriverProgress } from "../src/driver/driver.js";
import { stepViews, type StepView } from "../src/http/step-view.js";
import { instanceIdOf, type Instance, type SandboxRecord } from "../src/record/record.js";
import { NOW, recordWith } from "./records.js";

/** What a driver says at an instant, and in which run if not the first. */
export type Said = readonly [at: number, progress: DriverProgress, run?: number];

/** A record whose driver has said something, by the gateway's own rules. */
export function recordAfter(...said: readonly Said[]): SandboxRecord {
  return said.reduce<SandboxRecord>((record, [at, progress, run = 1]) => {
    const attempt = record.deadline?.attempt ?? "";
    const launching = { ...record, run, instance: launchOf(run) };
    return recordProgress(launching, { attempt, run, progress }, at).record;
  }, recordWith());
}

/** A run whose driver is at work and has started nothing yet. */
function launchOf(run: number): Instance {
  return { id: instanceIdOf("sb", run), run, handle: null, startedAt: NOW - 60_000, launchedAt: null };
}

/** The steps of such a record as the API shows them. */
export function stepsAfter(now: number, ...said: readonly Said[]): readonly StepView[] {
  return stepViews(recordAfter(...said), now);
}

/** A report about the image that records of tests ask for. */
export function imageReport(position?: number, more: Partial<DriverProgress> = {}): DriverProgress {
  const words = { label: "Image copied", activeLabel: "Copying image" };
  return { step: "image", ...words, subject: "image", unit: "bytes", position, ...more };
}
