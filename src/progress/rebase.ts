import { checkTracked } from "./check-tracked.js";
import { after } from "../deadline/instant.js";
import type { TrackedStep, TrackerState } from "./state.js";

/**
 * Moves a state onto a clock that was set back while no process ran: every stored instant moves by the difference, so
 * that each step has taken as long as it had taken. Call it once per process start. Returns the very same state when
 * the clock is not behind.
 *
 * @param now - Epoch milliseconds.
 *
 * @throws {@link SlipwayError} `INVALID_STATE` for a state that was not decoded, `INVALID_INSTANT`.
 *
 * @example
 * ```ts
 * import { readSteps, rebaseTracker, startTracking, applyStepEvent } from "slipway/progress";
 *
 * const fresh = startTracking([{ step: "export", label: "Image exported", subject: "local-big:1" }], 1000);
 * const { state } = applyStepEvent(fresh, { type: "start", step: "export", subject: "local-big:1" }, 2000);
 * readSteps(rebaseTracker(state, 500), 600)[0]?.elapsedMs; // => 100
 * ```
 *
 * @public
 */
export function rebaseTracker(state: TrackerState, now: number): TrackerState {
  checkTracked(state, now);
  if (now >= state.observedAt) return state;
  const by = now - state.observedAt;
  return {
    ...state,
    version: state.version + 1,
    startedAt: after(state.startedAt, by),
    observedAt: now,
    steps: state.steps.map((step) => movedStep(step, by)),
  };
}

function movedStep(step: TrackedStep, by: number): TrackedStep {
  return {
    ...step,
    startedAt: moved(step.startedAt, by),
    heardAt: moved(step.heardAt, by),
    finishedAt: moved(step.finishedAt, by),
    completedAt: moved(step.completedAt, by),
    pace: step.pace && { ...step.pace, at: after(step.pace.at, by) },
  };
}

function moved(at: number | null, by: number): number | null {
  return at === null ? null : after(at, by);
}
