import { isTotalOfParts } from "./marks.js";
import type { TrackedStep } from "./state.js";
import type { StepReading } from "./step-reading.js";

interface Shown {
  readonly run: number;
  readonly percent: number;
}

/**
 * The percentages that somebody has read, so that none is taken back. Layers appear one by one, and a share of those
 * that appeared so far would run from 90 to 9. What is remembered is what was read, not what was so in between.
 */
export class ShownPercent {
  readonly #shown = new Map<string, Shown>();

  /** The reading with its percentage left out where that would be a step back. */
  show(step: TrackedStep, reading: StepReading): StepReading {
    const { percent, position, total, finished } = reading;
    if (percent === null || finished || !isTotalOfParts(step)) return reading;
    const shown = this.#shown.get(step.step);
    if (shown !== undefined && shown.run === step.run && percent < shown.percent)
      return { ...reading, percent: null };
    // All parts complete and the step is not: that says nothing about what is left, and is no promise. Who has a
    // percentage has both numbers.
    if ((position as number) < (total as number)) this.#shown.set(step.step, { run: step.run, percent });
    return reading;
  }
}
