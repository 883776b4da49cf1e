import { after } from "./instant.js";
import type { DeadlinePhase, DeadlinePlan } from "./plan.js";
import type { DeadlineState, LimitedBy } from "./state.js";

/** The deadline in force and the bound that sets it. */
export interface BoundInForce {
  readonly at: number;
  readonly limitedBy: LimitedBy;
}

/**
 * Every bound of an attempt by name: its instant, or `null` where there is none in force.
 *
 * @public
 */
export type DeadlineBounds = Readonly<Record<LimitedBy, number | null>>;

/** @internal */
export function phaseOf(plan: DeadlinePlan, name: string): DeadlinePhase | undefined {
  for (const phase of plan.phases) if (phase.name === name) return phase;
  return undefined;
}

/**
 * The plan of the current phase. A state that was decoded or made here always has one.
 *
 * @internal
 */
export function currentPhase(state: DeadlineState): DeadlinePhase {
  const phase = phaseOf(state.plan, state.phase);
  if (phase === undefined) throw new TypeError(`The plan has no phase ${JSON.stringify(state.phase)}`);
  return phase;
}

/** @internal */
export function isLastPhase(state: DeadlineState): boolean {
  return state.plan.phases.at(-1)?.name === state.phase;
}

/**
 * The bounds of a state, whatever its status. While paused, budget and stall stand still and are not in force;
 * ceilings and parent run on.
 *
 * @internal
 */
export function boundsOf(state: DeadlineState): DeadlineBounds {
  const running = state.pausedAt === null;
  const { ceilingMs } = currentPhase(state);
  return {
    budget: running ? state.windowEndsAt : null,
    "phase-ceiling": ceilingMs === undefined ? null : after(state.phaseEnteredAt, ceilingMs),
    "attempt-ceiling":
      state.plan.ceilingMs === undefined ? null : after(state.startedAt, state.plan.ceilingMs),
    parent: state.parentDeadlineAt,
    stall: running ? state.stallEndsAt : null,
  };
}

/**
 * The earliest bound, or `null` when the attempt has no limit. A tie goes to the first in the order of
 * {@link LimitedBy}, so that a stall which coincides with the budget is not called a stall.
 *
 * @internal
 */
export function boundInForce(state: DeadlineState): BoundInForce | null {
  const { ceilingMs } = currentPhase(state);
  const running = state.pausedAt === null;
  let at = Number.POSITIVE_INFINITY;
  let limitedBy: LimitedBy = "budget";
  if (running && state.windowEndsAt !== null) at = state.windowEndsAt;
  if (ceilingMs !== undefined && state.phaseEnteredAt + ceilingMs < at) {
    at = after(state.phaseEnteredAt, ceilingMs);
    limitedBy = "phase-ceiling";
  }
  const total = state.plan.ceilingMs;
  if (total !== undefined && state.startedAt + total < at) {
    at = after(state.startedAt, total);
    limitedBy = "attempt-ceiling";
  }
  if (state.parentDeadlineAt !== null && state.parentDeadlineAt < at) {
    at = state.parentDeadlineAt;
    limitedBy = "parent";
  }
  if (running && state.stallEndsAt !== null && state.stallEndsAt < at) {
    at = state.stallEndsAt;
    limitedBy = "stall";
  }
  return at === Number.POSITIVE_INFINITY ? null : { at, limitedBy };
}
