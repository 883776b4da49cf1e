import { clip } from "../errors.js";
import { currentPhase, deadlineAt, isLastPhase, limitedBy } from "./bounds.js";
import { NO_CLEANUP, PENDING_CLEANUP } from "./cleanup.js";
import type { CancelEvent } from "./event.js";
import { MAX_REASON_LENGTH } from "./limits.js";
import type { DeadlinePhase } from "./plan.js";
import type { DeadlineExpiry, DeadlineState, LimitedBy } from "./state.js";
import { accepted, refused, type Step } from "./step.js";

/**
 * The state as it is at `now`: expired when its deadline has come, else the very same object. The boundary is
 * half-open: at exactly the deadline the attempt is expired.
 *
 * @param now - Not below the state's `observedAt`.
 *
 * @internal
 */
export function expireIfDue(state: DeadlineState, now: number): DeadlineState {
  if (state.status !== "active" || now < deadlineAt(state)) return state;
  return {
    ...state,
    version: state.version + 1,
    status: "expired",
    observedAt: now,
    expiry: expiryOf(state, now),
    cleanup: PENDING_CLEANUP,
  };
}

/** @internal */
export function applyComplete(state: DeadlineState, now: number): Step {
  if (!isLastPhase(state)) return refused(state, "not-final-phase");
  return accepted({
    ...state,
    version: state.version + 1,
    status: "completed",
    observedAt: now,
    completedAt: now,
    cleanup: NO_CLEANUP,
  });
}

/** @internal */
export function applyCancel(state: DeadlineState, event: CancelEvent, now: number): Step {
  return accepted({
    ...state,
    version: state.version + 1,
    status: "cancelled",
    observedAt: now,
    cancellation: { at: now, reason: clip(event.reason, MAX_REASON_LENGTH) },
    cleanup: PENDING_CLEANUP,
  });
}

function expiryOf(state: DeadlineState, now: number): DeadlineExpiry {
  const phase = currentPhase(state);
  const at = deadlineAt(state);
  const bound = limitedBy(state) ?? "budget";
  const texts = [limitText(state, phase, bound, at), progressText(state), rejectionText(state)];
  return {
    phase: state.phase,
    limitedBy: bound,
    at,
    observedAt: now,
    reason: phase.timeoutReason,
    message: texts.filter((text) => text !== "").join("; "),
  };
}

function limitText(state: DeadlineState, phase: DeadlinePhase, bound: LimitedBy, at: number): string {
  const elapsed = seconds(at - state.phaseEnteredAt);
  switch (bound) {
    case "budget":
      return `${phase.name} did not finish within its window, which ended ${elapsed} after it began`;
    case "phase-ceiling":
      return `${phase.name} did not finish within its ceiling of ${seconds(phase.ceilingMs ?? 0)}`;
    case "attempt-ceiling":
      return `${phase.name} did not finish within the attempt's ceiling of ${seconds(state.plan.ceilingMs ?? 0)}`;
    case "parent":
      return `${phase.name} did not finish before the deadline of what it is a part of, ${elapsed} after it began`;
    case "stall":
      return `${phase.name} stalled: no new progress for ${seconds(state.stallLimitMs ?? 0)}`;
  }
}

/** The current step is the one that appeared last. */
function progressText(state: DeadlineState): string {
  const mark = state.marks.at(-1);
  if (mark === undefined) return "";
  const what = [mark.step, mark.part].filter((name) => name !== null).join(" ");
  const where = mark.position === null ? "" : ` at ${mark.position}`;
  return what === "" && where === "" ? "" : `last progress${what === "" ? "" : ` in ${what}`}${where}`;
}

function rejectionText(state: DeadlineState): string {
  const { rejection } = state;
  if (rejection === null) return "";
  const why = [rejection.reason, rejection.message].filter((text) => text !== null).join(": ");
  return `configuration generation ${rejection.generation} was rejected${why === "" ? "" : `: ${why}`}`;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
