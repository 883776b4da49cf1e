import type { PauseEvent, ResumeEvent } from "./event.js";
import { after, plain } from "./instant.js";
import type { DeadlineState } from "./state.js";
import { accepted, refused, type Step } from "./step.js";

/**
 * Freezes budget and stall. A plan without an attempt ceiling refuses: nothing would ever end a paused attempt.
 *
 * The highest `seq` wins, so a redelivered or overtaken pause changes nothing, in whatever order they arrive.
 *
 * @internal
 */
export function applyPause(state: DeadlineState, event: PauseEvent, now: number): Step {
  if (state.plan.ceilingMs === undefined) return refused(state, "not-pausable");
  if (isOld(state, event.seq)) return refused(state, "duplicate");
  return accepted({
    ...state,
    version: state.version + 1,
    observedAt: now,
    pausedAt: state.pausedAt ?? now,
    pauseSeq: plain(event.seq),
  });
}

/** Lets budget and stall run again with what was left of them. @internal */
export function applyResume(state: DeadlineState, event: ResumeEvent, now: number): Step {
  if (state.plan.ceilingMs === undefined) return refused(state, "not-pausable");
  if (isOld(state, event.seq)) return refused(state, "duplicate");
  const pausedMs = state.pausedAt === null ? 0 : now - state.pausedAt;
  return accepted({
    ...state,
    version: state.version + 1,
    observedAt: now,
    windowEndsAt: state.windowEndsAt === null ? null : after(state.windowEndsAt, pausedMs),
    pausedAt: null,
    pauseSeq: plain(event.seq),
    stallEndsAt: state.stallEndsAt === null ? null : after(state.stallEndsAt, pausedMs),
  });
}

function isOld(state: DeadlineState, seq: number): boolean {
  return state.pauseSeq !== null && seq <= state.pauseSeq;
}
