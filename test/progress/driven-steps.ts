import { expect } from "vitest";
import { applyStepEvent } from "../../src/progress/apply.js";
import { startTracking } from "../../src/progress/start-tracking.js";
import type { TrackerState } from "../../src/progress/state.js";
import type { StepDefinition } from "../../src/progress/step-definition.js";
import type { StepEvent } from "../../src/progress/step-event.js";
import type { StepOutcome } from "../../src/progress/step-outcome.js";
import { readSteps, type StepReading } from "../../src/progress/step-reading.js";

export const IMAGE = "local-big:1";
export const export_: StepDefinition = { step: "export", label: "Image exported", subject: IMAGE };
const disk: StepDefinition = { step: "disk", label: "Root disk prepared", subject: IMAGE };
const overlay: StepDefinition = { step: "overlay", label: "Overlay prepared", subject: IMAGE };

/** Steps driven event by event, with the subject and the run filled in. */
export class Driven {
  state: TrackerState;
  now = 1000;

  constructor(steps: readonly StepDefinition[] = [export_, disk, overlay]) {
    this.state = startTracking(steps, this.now);
  }

  apply(event: StepEvent): StepOutcome {
    const { state, outcome } = applyStepEvent(this.state, event, this.now);
    if (outcome.changed) expect(state.version).toBe(this.state.version + 1);
    else expect(state).toBe(this.state);
    this.state = state;
    return outcome;
  }

  report(step: string, position: number, more: Partial<StepEvent & { type: "report" }> = {}): StepOutcome {
    return this.apply({ type: "report", step, subject: IMAGE, position, ...more });
  }

  start(step: string, run?: number): StepOutcome {
    return this.apply({ type: "start", step, subject: IMAGE, run });
  }

  finish(step: string, run?: number): StepOutcome {
    return this.apply({ type: "finish", step, subject: IMAGE, run });
  }

  read(step: string): StepReading {
    return readSteps(this.state, this.now).find((reading) => reading.step === step)!;
  }
}

export const why = (outcome: StepOutcome): string => (outcome.applied ? "applied" : outcome.why);
