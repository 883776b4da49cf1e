import { checkInstant } from "../deadline/instant.js";
import type { TrackedStep, TrackerState } from "./state.js";
import { BYTES, checkDefinitions, type StepDefinition } from "./step-definition.js";

/**
 * The state in which no step has begun.
 *
 * @param now - Epoch milliseconds.
 *
 * @throws {@link SlipwayError} `INVALID_PLAN` when a step is malformed or a name repeats, `INVALID_INSTANT`.
 *
 * @example
 * ```ts
 * import { startTracking } from "slipway/progress";
 *
 * const state = startTracking([{ step: "export", label: "Image exported", subject: "local-big:1" }], 0);
 * state.steps[0]?.startedAt; // => null
 * ```
 *
 * @public
 */
export function startTracking(steps: readonly StepDefinition[], now: number): TrackerState {
  checkDefinitions(steps);
  checkInstant("now", now);
  return {
    schemaVersion: 1,
    version: 1,
    startedAt: now,
    observedAt: now,
    run: 0,
    steps: steps.map(untouched),
  };
}

function untouched({ step, label, activeLabel, subject, unit, total }: StepDefinition): TrackedStep {
  return {
    step,
    label,
    activeLabel: activeLabel ?? label,
    subject,
    unit: unit ?? BYTES,
    total: total === undefined || (total as unknown) === null ? null : total + 0,
    startedAt: null,
    heardAt: null,
    finishedAt: null,
    completedAt: null,
    run: 0,
    marks: [],
    pace: null,
  };
}
