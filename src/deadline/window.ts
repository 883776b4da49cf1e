import { clip } from "../errors.js";
import { currentPhase, phaseOf } from "./bounds.js";
import type { ChangeEvent, EnterEvent, RejectEvent } from "./event.js";
import { after, plain } from "./instant.js";
import { MAX_DIAGNOSTIC_LENGTH, MAX_SPENT } from "./limits.js";
import type { DeadlinePhase } from "./plan.js";
import { NO_MARKS } from "./progress.js";
import type { DeadlineState, RecordedConfiguration } from "./state.js";
import { accepted, refused, type Step } from "./step.js";

const MAX_REJECTION_REASON_LENGTH = 256;

/**
 * The window and stall limit with which a phase opens.
 *
 * @param at - The instant from which they count: the entry, or the pause that holds time still.
 *
 * @internal
 */
export function openPhase(
  phase: DeadlinePhase,
  at: number,
): Pick<DeadlineState, "windowEndsAt" | "stallLimitMs" | "stallEndsAt"> {
  const stallLimitMs = typeof phase.stallMs === "number" ? phase.stallMs : null;
  return {
    windowEndsAt: phase.budgetMs === undefined ? null : after(at, phase.budgetMs),
    stallLimitMs,
    stallEndsAt: stallLimitMs === null ? null : after(at, stallLimitMs),
  };
}

/** The only way to a later phase: forward, once, with the phase's full budget. @internal */
export function applyEnter(state: DeadlineState, event: EnterEvent, now: number): Step {
  const phase = phaseOf(state.plan, event.phase);
  if (phase === undefined) return refused(state, "unknown-phase");
  if (phase.name === state.phase) return refused(state, "duplicate");
  const { phases } = state.plan;
  if (phases.indexOf(phase) < phases.indexOf(currentPhase(state))) return refused(state, "backward");
  const opened = openPhase(phase, state.pausedAt ?? now);
  return accepted({
    ...state,
    version: state.version + 1,
    observedAt: now,
    phase: phase.name,
    phaseEnteredAt: now,
    windowEndsAt: opened.windowEndsAt,
    marks: NO_MARKS,
    stallLimitMs: opened.stallLimitMs,
    stallEndsAt: opened.stallEndsAt,
    // Whatever was wrong with the configuration did not keep the attempt from getting here.
    rejection: null,
  });
}

/**
 * Records a committed configuration. Only content that differs from the recorded one renews, counted from its
 * commit and not from its delivery, and the first configuration of an attempt that started without one is its
 * baseline.
 *
 * @internal
 */
export function applyChange(state: DeadlineState, event: ChangeEvent, now: number): Step {
  const recorded = state.configuration;
  const committedAt = plain(Math.min(event.committedAt ?? now, now));
  if (recorded !== null) {
    if (event.generation <= recorded.generation) return refused(state, "unchanged");
    if (recorded.committedAt !== null && committedAt < recorded.committedAt)
      return refused(state, "stale-commit");
  }
  const digest = event.digest ?? null;
  const sameContent = recorded !== null && digest !== null && digest === recorded.digest;
  const real = recorded !== null && !sameContent;
  const from = Math.min(committedAt, state.pausedAt ?? committedAt);
  const windowEndsAt = real ? renewedWindow(state, from) : state.windowEndsAt;
  const renewed = windowEndsAt !== state.windowEndsAt;
  return accepted(
    {
      ...state,
      version: state.version + 1,
      observedAt: now,
      windowEndsAt,
      configuration: { generation: plain(event.generation), digest, committedAt },
      rejection: sameContent ? state.rejection : null,
    },
    { applied: true, changed: true, renewed },
  );
}

/**
 * Records that the admitter refused the recorded configuration. The first time for its content this opens a window
 * to repair it; inventing rejections, or returning to content that was refused before, gains nothing.
 *
 * @internal
 */
export function applyReject(state: DeadlineState, event: RejectEvent, now: number): Step {
  const recorded = state.configuration;
  if (currentPhase(state).renewOn !== "change") return refused(state, "other-phase");
  if (recorded === null || !isAbout(event, recorded)) return refused(state, "not-current");
  if (state.rejection !== null) return refused(state, "duplicate");
  const content = contentOf(recorded);
  const first = !state.spentRejections.includes(content);
  const windowEndsAt = first ? renewedWindow(state, state.pausedAt ?? now) : state.windowEndsAt;
  return accepted(
    {
      ...state,
      version: state.version + 1,
      observedAt: now,
      windowEndsAt,
      rejection: {
        generation: recorded.generation,
        at: now,
        reason: bounded(event.reason, MAX_REJECTION_REASON_LENGTH),
        message: bounded(event.message, MAX_DIAGNOSTIC_LENGTH),
      },
      spentRejections: first ? [...state.spentRejections, content].slice(-MAX_SPENT) : state.spentRejections,
    },
    { applied: true, changed: true, renewed: windowEndsAt !== state.windowEndsAt },
  );
}

/** The window after a renewal: never earlier than it was, and only where the phase has one to renew. */
function renewedWindow(state: DeadlineState, from: number): number | null {
  const phase = currentPhase(state);
  if (phase.renewOn !== "change" || phase.budgetMs === undefined || state.windowEndsAt === null) {
    return state.windowEndsAt;
  }
  return Math.max(state.windowEndsAt, after(from, phase.budgetMs));
}

function isAbout(event: RejectEvent, recorded: RecordedConfiguration): boolean {
  if (event.generation !== recorded.generation) return false;
  const digest = event.digest ?? null;
  return digest === null || recorded.digest === null || digest === recorded.digest;
}

/**
 * What makes two configurations the same content: the digest, and without one the generation.
 *
 * @internal
 */
export function contentOf(recorded: RecordedConfiguration): string {
  return recorded.digest === null ? `generation ${recorded.generation}` : `digest ${recorded.digest}`;
}

function bounded(text: string | null | undefined, length: number): string | null {
  return text === undefined || text === null || text === "" ? null : clip(text, length);
}
