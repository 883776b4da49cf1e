import { boundsOf, deadlineAt, limitedBy, type DeadlineBounds } from "./bounds.js";
import { checkDecoded } from "./decoded.js";
import { checkInstant } from "./instant.js";
import { expireIfDue } from "./settle.js";
import type { DeadlineState, DeadlineStatus, LimitedBy } from "./state.js";

/**
 * A deadline as it stands at an instant.
 *
 * @public
 */
export interface DeadlineReading {
  /** The attempt's fencing token. */
  readonly attempt: string;
  /** `expired` from the deadline on, whether or not anybody has written it yet. */
  readonly status: DeadlineStatus;
  /** The phase that the attempt is in, or ended in. */
  readonly phase: string;
  /** The deadline in force; `null` when unlimited or settled. */
  readonly deadlineAt: number | null;
  /** Time left; `Infinity` when unlimited, 0 when settled. */
  readonly remainingMs: number;
  /** Time since the start of the attempt, up to its end when it is settled. */
  readonly elapsedMs: number;
  /** The bound in force, or the one that expired it; `null` when unlimited, completed or cancelled. */
  readonly limitedBy: LimitedBy | null;
  /**
   * Every bound by name, `null` where there is none in force. The stall is reported no later than the bound that
   * would come before it.
   */
  readonly bounds: DeadlineBounds;
  /** Whether the budget is frozen. */
  readonly paused: boolean;
  /** While paused: what is left of the budget once it runs again. Otherwise `null`. */
  readonly pausedBudgetMs: number | null;
}

/**
 * Reads a deadline at an instant, without changing it.
 *
 * @param now - Epoch milliseconds. An instant below the state's `observedAt` counts as that.
 *
 * @throws {@link SlipwayError} `INVALID_INSTANT` when `now` is not a safe integer.
 *
 * @example
 * ```ts
 * import { definePlan, readDeadline, startAttempt } from "slipway";
 *
 * const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 900 }], ceilingMs: 1500 });
 * const { state } = startAttempt(plan, { attempt: "a1", now: 0 });
 * if (state) {
 *   readDeadline(state, 500).remainingMs; // => 400
 * }
 * ```
 *
 * @public
 */
export function readDeadline(state: DeadlineState, now: number): DeadlineReading {
  checkDecoded("deadline state", state);
  checkInstant("now", now);
  const instant = Math.max(now, state.observedAt);
  const seen = expireIfDue(state, instant);
  const active = seen.status === "active";
  const at = deadlineAt(seen);
  return {
    attempt: seen.attempt,
    status: seen.status,
    phase: seen.phase,
    deadlineAt: active && at !== Number.POSITIVE_INFINITY ? at : null,
    remainingMs: active ? at - instant : 0,
    elapsedMs: (endOf(seen) ?? instant) - seen.startedAt,
    limitedBy: active ? limitedBy(seen) : (seen.expiry?.limitedBy ?? null),
    bounds: clampStall(boundsOf(seen)),
    paused: active && seen.pausedAt !== null,
    pausedBudgetMs:
      active && seen.pausedAt !== null && seen.windowEndsAt !== null
        ? seen.windowEndsAt - seen.pausedAt
        : null,
  };
}

function endOf(state: DeadlineState): number | null {
  return state.expiry?.at ?? state.completedAt ?? state.cancellation?.at ?? null;
}

function clampStall(bounds: DeadlineBounds): DeadlineBounds {
  if (bounds.stall === null) return bounds;
  const others = [bounds.budget, bounds["phase-ceiling"], bounds["attempt-ceiling"], bounds.parent];
  const first = Math.min(bounds.stall, ...others.filter((at) => at !== null));
  return { ...bounds, stall: first };
}
