import { checkDecoded } from "./decoded.js";
import { after, checkInstant } from "./instant.js";
import type { DeadlineState } from "./state.js";

/**
 * Moves a state onto a clock that was set back while no process ran: every stored instant moves by the difference
 * between `now` and the latest instant the state knows, so that what was left is what is left, and no more.
 *
 * Call it once per process start, and write the result (its `version` grew) before any event. Ordinary loads do not
 * need it: they clamp. Returns the very same state when the clock is not behind.
 *
 * @param now - Epoch milliseconds.
 *
 * @public
 */
export function rebaseClock(state: DeadlineState, now: number): DeadlineState {
  checkDecoded("deadline state", state);
  checkInstant("now", now);
  if (now >= state.observedAt) return state;
  const by = now - state.observedAt;
  const { configuration, rejection, expiry, cancellation, cleanup } = state;
  return {
    ...state,
    version: state.version + 1,
    startedAt: after(state.startedAt, by),
    observedAt: now,
    parentDeadlineAt: moved(state.parentDeadlineAt, by),
    phaseEnteredAt: after(state.phaseEnteredAt, by),
    windowEndsAt: moved(state.windowEndsAt, by),
    pausedAt: moved(state.pausedAt, by),
    stallEndsAt: moved(state.stallEndsAt, by),
    configuration: configuration && { ...configuration, committedAt: moved(configuration.committedAt, by) },
    rejection: rejection && { ...rejection, at: after(rejection.at, by) },
    expiry: expiry && { ...expiry, at: after(expiry.at, by), observedAt: after(expiry.observedAt, by) },
    completedAt: moved(state.completedAt, by),
    cancellation: cancellation && { ...cancellation, at: after(cancellation.at, by) },
    cleanup: {
      ...cleanup,
      claim: cleanup.claim && {
        ...cleanup.claim,
        at: after(cleanup.claim.at, by),
        until: after(cleanup.claim.until, by),
      },
      doneAt: moved(cleanup.doneAt, by),
      waiver: cleanup.waiver && { ...cleanup.waiver, at: after(cleanup.waiver.at, by) },
    },
  };
}

function moved(at: number | null, by: number): number | null {
  return at === null ? null : after(at, by);
}
