import { clip } from "../errors.js";
import type { ClaimCleanupEvent, CleanupDoneEvent, WaiveCleanupEvent } from "./event.js";
import { after } from "./instant.js";
import { MAX_DIAGNOSTIC_LENGTH } from "./limits.js";
import type { Cleanup, DeadlineState } from "./state.js";
import { accepted, refused, type Step } from "./step.js";

/** @internal */
export const NO_CLEANUP: Cleanup = cleanup("none");

/** @internal */
export const PENDING_CLEANUP: Cleanup = cleanup("pending");

function cleanup(status: Cleanup["status"]): Cleanup {
  return Object.freeze({ status, claims: 0, claim: null, error: null, doneAt: null, waiver: null });
}

/**
 * Gives one owner the right to clean up for the plan's cleanup budget. The same owner may claim again, for it may
 * have restarted; another one only when the lease is over, which counts as a failure of the first.
 *
 * @internal
 */
export function applyClaimCleanup(state: DeadlineState, event: ClaimCleanupEvent, now: number): Step {
  const { cleanup } = state;
  if (cleanup.status !== "pending") return refused(state, "not-needed");
  const { claim } = cleanup;
  const overrun = claim !== null && now >= claim.until;
  if (claim !== null && !overrun && claim.owner !== event.owner) return refused(state, "claimed");
  const claims = cleanup.claims + 1;
  const lease = { owner: event.owner, at: now, until: after(now, state.plan.cleanupBudgetMs) };
  const error = overrun ? overrunText(state) : cleanup.error;
  return accepted(withCleanup(state, now, { ...cleanup, claims, claim: lease, error }), {
    applied: true,
    changed: true,
    claim: claims,
  });
}

/** Ends a claim: for good when it succeeded within its lease, else the next one may try. @internal */
export function applyCleanupDone(state: DeadlineState, event: CleanupDoneEvent, now: number): Step {
  const { cleanup } = state;
  const { claim } = cleanup;
  if (claim === null || event.claim !== cleanup.claims) return refused(state, "not-owner");
  const overrun = now >= claim.until;
  if (event.ok && !overrun) {
    return accepted(
      withCleanup(state, now, { ...cleanup, status: "done", claim: null, error: null, doneAt: now }),
    );
  }
  const error = clip(event.error || (overrun ? overrunText(state) : "cleanup failed"), MAX_DIAGNOSTIC_LENGTH);
  const next = withCleanup(state, now, { ...cleanup, claim: null, error });
  return accepted(next, overrun ? { applied: true, changed: true, overrun } : undefined);
}

/** @internal */
export function applyWaiveCleanup(state: DeadlineState, event: WaiveCleanupEvent, now: number): Step {
  const { cleanup } = state;
  if (cleanup.status !== "pending") return refused(state, "not-needed");
  const waiver = { by: event.by, reason: clip(event.reason, MAX_DIAGNOSTIC_LENGTH), at: now };
  return accepted(withCleanup(state, now, { ...cleanup, status: "waived", claim: null, waiver }));
}

function withCleanup(state: DeadlineState, now: number, cleanup: Cleanup): DeadlineState {
  return { ...state, version: state.version + 1, observedAt: now, cleanup };
}

function overrunText(state: DeadlineState): string {
  return `cleanup did not finish within ${state.plan.cleanupBudgetMs / 1000} s`;
}
