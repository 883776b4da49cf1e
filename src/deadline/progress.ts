import { currentPhase, phaseOf } from "./bounds.js";
import type { ProgressEvent } from "./event.js";
import { after, plain } from "./instant.js";
import { MAX_MARKS, MAX_STEPS } from "./limits.js";
import type { DeadlinePhase } from "./plan.js";
import type { DeadlineState, ProgressMark } from "./state.js";
import { accepted, refused, type Step } from "./step.js";

/** @internal */
export const NO_MARKS: readonly ProgressMark[] = Object.freeze([]);

/**
 * Raises the mark of (step, part) and re-arms the stall limit. A position not above the mark is no progress, so that
 * a crash loop which reports 91, 92, 91, 92 counts twice and not for ever.
 *
 * @param times - How many events this is the last of, each of which raised the same mark.
 *
 * @internal
 */
export function applyProgress(state: DeadlineState, event: ProgressEvent, now: number, times = 1): Step {
  if (event.phase !== state.phase) {
    return refused(state, phaseOf(state.plan, event.phase) === undefined ? "unknown-phase" : "other-phase");
  }
  const run = plain(event.run ?? state.run);
  if (run < state.run) return refused(state, "stale-run");
  const position = event.position ?? null;
  if (position !== null && !isPosition(position)) return refused(state, "invalid-position");

  const step = event.step ?? null;
  const part = event.part ?? null;
  const marks = run > state.run ? NO_MARKS : state.marks;
  const index = findMark(marks, step, part);
  const known = marks[index];
  if (known !== undefined && !isAbove(position, known.position)) return refused(state, "duplicate");

  const stepBegins = known === undefined && !hasStep(marks, step);
  if (known === undefined && (marks.length >= MAX_MARKS || (stepBegins && countSteps(marks) >= MAX_STEPS))) {
    return refused(state, "too-many-steps");
  }
  const mark: ProgressMark = { step, part, position: position === null ? null : plain(position) };
  const stallLimitMs = stepBegins
    ? (stallLimitOf(currentPhase(state), step) ?? state.stallLimitMs)
    : state.stallLimitMs;
  return accepted(
    withMarks(
      state,
      times,
      now,
      run,
      known === undefined ? [...marks, mark] : replaced(marks, index, mark),
      stallLimitMs,
      stallLimitMs === null ? null : after(state.pausedAt ?? now, stallLimitMs),
    ),
  );
}

/**
 * The next state, written out field by field: this is the one event that comes by the thousand, and a spread copy
 * costs ten times as much.
 */
function withMarks(
  state: DeadlineState,
  times: number,
  observedAt: number,
  run: number,
  marks: readonly ProgressMark[],
  stallLimitMs: number | null,
  stallEndsAt: number | null,
): DeadlineState {
  return {
    schemaVersion: 1,
    version: state.version + times,
    attempt: state.attempt,
    plan: state.plan,
    status: state.status,
    startedAt: state.startedAt,
    observedAt,
    parentDeadlineAt: state.parentDeadlineAt,
    phase: state.phase,
    phaseEnteredAt: state.phaseEnteredAt,
    windowEndsAt: state.windowEndsAt,
    pausedAt: state.pausedAt,
    pauseSeq: state.pauseSeq,
    run,
    marks,
    stallLimitMs,
    stallEndsAt,
    configuration: state.configuration,
    rejection: state.rejection,
    spentRejections: state.spentRejections,
    expiry: state.expiry,
    completedAt: state.completedAt,
    cancellation: state.cancellation,
    cleanup: state.cleanup,
  };
}

/**
 * The stall limit that beginning a step brings, `null` when the step brings none and the previous one stays. Only a
 * step that was not seen before changes the limit: a late report of an earlier one runs under the current step's.
 */
function stallLimitOf(phase: DeadlinePhase, step: string | null): number | null {
  const { stallMs } = phase;
  if (typeof stallMs !== "object" || step === null || !Object.hasOwn(stallMs, step)) return null;
  return stallMs[step] ?? null;
}

/** @internal */
export function isPosition(position: unknown): position is number {
  return typeof position === "number" && position >= 0 && position < Number.POSITIVE_INFINITY;
}

/** @internal */
export function isAbove(position: number | null, mark: number | null): boolean {
  return position !== null && (mark === null || position > mark);
}

/** @internal */
export function findMark(marks: readonly ProgressMark[], step: string | null, part: string | null): number {
  for (let index = marks.length - 1; index >= 0; index -= 1) {
    const mark = marks[index];
    if (mark?.step === step && mark.part === part) return index;
  }
  return -1;
}

function hasStep(marks: readonly ProgressMark[], step: string | null): boolean {
  for (const mark of marks) if (mark.step === step) return true;
  return false;
}

function countSteps(marks: readonly ProgressMark[]): number {
  return marks.length < MAX_STEPS ? marks.length : new Set(marks.map((mark) => mark.step)).size;
}

function replaced(
  marks: readonly ProgressMark[],
  index: number,
  mark: ProgressMark,
): readonly ProgressMark[] {
  const copy = marks.slice();
  copy[index] = mark;
  return copy;
}
