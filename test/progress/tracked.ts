import { StepTracker, type StepTrackerOptions } from "../../src/progress/index.js";
import { VirtualClock } from "../../src/testing/index.js";

export const IMAGE = "local-big:1";

export const steps = [
  { step: "export", label: "Image exported", subject: IMAGE },
  { step: "disk", label: "Root disk prepared", subject: IMAGE },
];

/** A tracker of two steps of one image, on a clock of its own. */
export function tracked(options: StepTrackerOptions = {}): { clock: VirtualClock; tracker: StepTracker } {
  const clock = new VirtualClock();
  return { clock, tracker: new StepTracker(steps, { clock, ...options }) };
}
