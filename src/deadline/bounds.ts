import { after } from "./instant.js";
import type { DeadlinePhase, DeadlinePlan } from "./plan.js";
import type { DeadlineState, LimitedBy } from "./state.js";

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
 * The earliest bound in force, `Infinity` when the attempt has no limit. Asked before every event and by every alarm:
 * it allocates nothing.
 *
 * @internal
 */
export function deadlineAt(state: DeadlineState): number {
  const { ceilingMs } = currentPhase(state);
  const total = state.plan.ceilingMs;
  let at = Number.POSITIVE_INFINITY;
  if (state.pausedAt === null) {
    if (state.windowEndsAt !== null) at = state.windowEndsAt;
    if (state.stallEndsAt !== null && state.stallEndsAt < at) at = state.stallEndsAt;
  }
  if (ceilingMs !== undefined) at = Math.min(at, after(state.phaseEnteredAt, ceilingMs));
  if (total !== undefined) at = Math.min(at, after(state.startedAt, total));
  if (state.parentDeadlineAt !== null && state.parentDeadlineAt < at) at = state.parentDeadlineAt;
  return at;
}

/** In this order a tie is settled, so that a stall which coincides with the budget is not called a stall. */
const TIE_ORDER: readonly LimitedBy[] = ["budget", "phase-ceiling", "attempt-ceiling", "parent", "stall"];

/**
 * The bound that is the deadline in force, `null` when the attempt has no limit.
 *
 * @internal
 */
export function limitedBy(state: DeadlineState): LimitedBy | null {
  const at = deadlineAt(state);
  const bounds = boundsOf(state);
  return TIE_ORDER.find((bound) => bounds[bound] === at) ?? null;
}
