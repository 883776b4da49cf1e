import { checkEvent } from "./check-event.js";
import { applyClaimCleanup, applyCleanupDone, applyWaiveCleanup } from "./cleanup.js";
import { checkDecoded } from "./decoded.js";
import type { DeadlineEvent } from "./event.js";
import { checkInstant } from "./instant.js";
import type { DeadlineStep } from "./outcome.js";
import { applyPause, applyResume } from "./pause.js";
import { applyProgress } from "./progress.js";
import { applyCancel, applyComplete, expireIfDue } from "./settle.js";
import type { DeadlineState } from "./state.js";
import { accepted, refused, refusedChanged, acceptedUnchanged, type Step } from "./step.js";
import { applyChange, applyEnter, applyReject } from "./window.js";

/**
 * The one door through which anything happens to a deadline. Pure: a state, an event and an instant give the next
 * state and what became of the event.
 *
 * In this order: a deadline that has come expires the attempt before anything else, so that late news cannot revive
 * it; another attempt's event is refused (`stale-attempt`), and so is one that met a settled state (`expired` when
 * this very call found the expiry, else `settled`); then the event's own rules apply. Only cleanup events alter a
 * settled state, and only its `cleanup`.
 *
 * Write the state exactly when `outcome.changed`. That includes a refusal: an event that came too late found the
 * expiry. Without a change `state` is the very object that was passed in.
 *
 * @param now - Epoch milliseconds. An instant below the state's `observedAt` counts as that.
 *
 * @throws {@link SlipwayError} `INVALID_EVENT` or `INVALID_INSTANT` when the input is a mistake; the state is then
 * untouched.
 *
 * @example
 * ```ts
 * import { applyDeadlineEvent, definePlan, startAttempt } from "slipway";
 *
 * const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 1000 }] });
 * const { state } = startAttempt(plan, { attempt: "a1", now: 0 });
 * if (state) {
 *   const late = applyDeadlineEvent(state, { type: "complete", attempt: "a1" }, 1000);
 *   late.outcome; // => { applied: false, why: "expired", changed: true }
 *   late.state.expiry?.at; // => 1000
 * }
 * ```
 *
 * @public
 */
export function applyDeadlineEvent(
  state: DeadlineState,
  event: DeadlineEvent,
  now: number,
): DeadlineStep<DeadlineState> {
  checkDecoded("deadline state", state);
  checkEvent(event);
  checkInstant("now", now);
  const instant = now > state.observedAt ? now : state.observedAt;
  const current = expireIfDue(state, instant);
  const found = current !== state;
  if (event.type !== "tick" && event.attempt !== state.attempt) {
    return found ? refusedChanged(current, "stale-attempt") : refused(current, "stale-attempt");
  }
  if (found) return refusedChanged(current, "expired");
  switch (event.type) {
    case "claim-cleanup":
      return applyClaimCleanup(state, event, instant);
    case "cleanup-done":
      return applyCleanupDone(state, event, instant);
    case "waive-cleanup":
      return applyWaiveCleanup(state, event, instant);
    default:
      return state.status === "active" ? applyToActive(state, event, instant) : refused(state, "settled");
  }
}

type ActiveEvent = Exclude<DeadlineEvent, { type: "claim-cleanup" | "cleanup-done" | "waive-cleanup" }>;

function applyToActive(state: DeadlineState, event: ActiveEvent, now: number): Step {
  switch (event.type) {
    case "progress":
      return applyProgress(state, event, now);
    case "enter":
      return applyEnter(state, event, now);
    case "change":
      return applyChange(state, event, now);
    case "reject":
      return applyReject(state, event, now);
    case "pause":
      return applyPause(state, event, now);
    case "resume":
      return applyResume(state, event, now);
    case "complete":
      return applyComplete(state, now);
    case "cancel":
      return applyCancel(state, event, now);
    case "tick":
      return applyTick(state, now);
  }
}

/**
 * Time passed without expiry. It is recorded now and then, and not at each tick, so that a clock which is set back
 * while nobody runs can gain no more than that, and a sweep writes no more than that.
 */
function applyTick(state: DeadlineState, now: number): Step {
  if (now - state.observedAt <= state.plan.observeEveryMs) return acceptedUnchanged(state);
  return accepted({ ...state, version: state.version + 1, observedAt: now });
}
