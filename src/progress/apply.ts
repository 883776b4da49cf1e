import { checkTracked } from "./check-tracked.js";
import { isCount } from "./count.js";
import { MAX_FOREIGN_UNITS, MAX_PARTS } from "./limits.js";
import { countForeignUnits, findMark, positionOf, totalOf, withMark } from "./marks.js";
import { nextPace } from "./pace.js";
import type { PartMark, TrackedStep, TrackerState } from "./state.js";
import { checkStepEvent, type StepEvent, type StepReport } from "./step-event.js";
import type { StepRefusal, StepSign, TrackerStep } from "./step-outcome.js";

const NO_MARKS: readonly PartMark[] = Object.freeze([]);

/**
 * The one door through which anything happens to tracked steps. Pure: a state, an event and an instant give the next
 * state and what became of the event.
 *
 * A step begins with the first thing that is heard of it, which implies that earlier steps that began are finished;
 * an earlier one that has not begun may still begin. A finished step begins again when its position rises, when it is
 * started, or when a new run reports it; a redelivered report changes nothing.
 *
 * @param now - Epoch milliseconds. An instant below the state's `observedAt` counts as that.
 *
 * @throws {@link SlipwayError} `INVALID_STATE`, `INVALID_EVENT` or `INVALID_INSTANT` when the input is a mistake; the
 * state is then untouched.
 *
 * @example
 * ```ts
 * import { applyStepEvent, startTracking } from "slipway/progress";
 *
 * const state = startTracking([{ step: "export", label: "Image exported", subject: "local-big:1" }], 0);
 * const bootstrap = { type: "finish", step: "export", subject: "bootstrap:1" } as const;
 * applyStepEvent(state, bootstrap, 600).outcome; // => { applied: false, changed: false, why: "other-subject" }
 * ```
 *
 * @public
 */
export function applyStepEvent(state: TrackerState, event: StepEvent, now: number): TrackerStep {
  checkTracked(state, now);
  checkStepEvent(event);
  const index = state.steps.findIndex(({ step }) => step === event.step);
  const step = state.steps[index];
  if (step === undefined) return refused(state, "unknown-step");
  if (event.subject !== step.subject) return refused(state, "other-subject");
  const run = event.run ?? state.run;
  if (run < state.run) return refused(state, "stale-run");
  const at = Math.max(now, state.observedAt);
  const change = changeOf(step, event, run, at);
  if (typeof change === "string") return refused(state, change);
  return accepted(state, index, step, change, run, at);
}

function refused(state: TrackerState, why: StepRefusal): TrackerStep {
  return { state, outcome: { applied: false, changed: false, why } };
}

/** What an event makes of its step. */
interface Change {
  readonly next: TrackedStep;
  readonly sign: StepSign | null;
}

function changeOf(step: TrackedStep, event: StepEvent, run: number, at: number): Change | StepRefusal {
  switch (event.type) {
    case "report":
      return reported(step, event, run, at);
    case "start":
      return started(step, run, at);
    case "finish":
      return finished(step, run, at);
  }
}

/** The step as a run finds it: one that began after the marks were made begins with none. */
function inRun(step: TrackedStep, run: number): TrackedStep {
  return run > step.run ? { ...step, run, marks: NO_MARKS, pace: null } : step;
}

function reported(step: TrackedStep, event: StepReport, run: number, at: number): Change | StepRefusal {
  const { position } = event;
  const total = event.total ?? null;
  if (!isCount(position)) return "invalid-position";
  if (total !== null && !isCount(total)) return "invalid-total";
  const part = event.part ?? null;
  const counted = event.unit ?? step.unit;
  const unit = counted === step.unit ? null : counted;
  const fresh = run > step.run;
  const base = inRun(step, run);
  const place = findMark(base.marks, part, unit);
  const known = base.marks[place];
  if (known === undefined && isFull(base.marks, unit)) return "too-many-parts";
  const rises = known === undefined || position > known.position;
  const says = unit === null && total !== null && saysTotal(base, known, part, position, total);
  if (!rises && !says) return "duplicate";

  // Adding 0 turns a negative zero, which JSON cannot carry, into a plain one.
  const mark: PartMark = {
    part,
    unit,
    position: rises ? position + 0 : known.position,
    total: says && part !== null ? total + 0 : (known?.total ?? null),
  };
  const marks = withMark(base.marks, place, mark);
  const sum = positionOf(marks, unit);
  if (unit !== null) {
    const finishedAt = fresh ? null : base.finishedAt;
    const next = { ...base, startedAt: base.startedAt ?? at, heardAt: at, finishedAt, marks };
    const moves = sum > positionOf(base.marks, unit) || !base.marks.some((other) => other.unit === unit);
    return { next, sign: moves ? { step: step.step, part: unit, position: sum, run } : null };
  }

  const before = positionOf(base.marks, null);
  const began = base.startedAt === null;
  const reopens = fresh || sum > before;
  const finishedAt = reopens ? null : base.finishedAt;
  const stepTotal = says && part === null ? total + 0 : base.total;
  // What is heard of in the middle may have been there before (a resumed layer or download): no rate is made of that.
  const ofTotal = part === null ? stepTotal : mark.total;
  const found = known === undefined && ofTotal !== null && position < ofTotal ? position : 0;
  // Field by field: a spread of so many takes ten times as long.
  const next: TrackedStep = {
    step: base.step,
    label: base.label,
    activeLabel: base.activeLabel,
    subject: base.subject,
    unit: base.unit,
    total: stepTotal,
    startedAt: base.startedAt ?? at,
    heardAt: at,
    finishedAt,
    completedAt: base.completedAt,
    run: base.run,
    marks,
    pace: nextPace(base.pace, sum, found, at),
  };
  const sign = began || reopens ? { step: step.step, part: null, position: sum, run } : null;
  return { next, sign };
}

function isFull(marks: readonly PartMark[], unit: string | null): boolean {
  if (marks.length >= MAX_PARTS) return true;
  if (unit === null || marks.some((mark) => mark.unit === unit)) return false;
  return countForeignUnits(marks) >= MAX_FOREIGN_UNITS;
}

/**
 * Whether a report's total is news. One that comes with a position below the mark is a late report's, and counts only
 * where no total is known yet.
 */
function saysTotal(
  step: TrackedStep,
  known: PartMark | undefined,
  part: string | null,
  position: number,
  total: number,
): boolean {
  const current = part === null ? step.total : (known?.total ?? null);
  return current === null || (total !== current && position >= (known?.position ?? 0));
}

function started(step: TrackedStep, run: number, at: number): Change | StepRefusal {
  const fresh = run > step.run;
  if (step.startedAt !== null && step.finishedAt === null && !fresh) return "duplicate";
  const base = inRun(step, run);
  const position = positionOf(base.marks, null);
  return {
    next: {
      ...base,
      startedAt: base.startedAt ?? at,
      heardAt: at,
      finishedAt: null,
      pace: base.pace ?? { at, position, perSecond: null },
    },
    sign: step.startedAt === null || fresh ? { step: step.step, part: null, position, run } : null,
  };
}

function finished(step: TrackedStep, run: number, at: number): Change | StepRefusal {
  if (step.finishedAt !== null) return "duplicate";
  return {
    next: {
      ...asFound(step, run),
      startedAt: step.startedAt ?? at,
      heardAt: at,
      finishedAt: at,
      completedAt: step.completedAt ?? at,
      run,
    },
    sign: step.startedAt === null ? { step: step.step, part: null, position: 0, run } : null,
  };
}

/**
 * A step that is found finished: what was counted says how large the result is. What an earlier run had counted when it
 * was interrupted says nothing about it, unless that was all.
 */
function asFound(step: TrackedStep, run: number): TrackedStep {
  const { marks } = step;
  const total = totalOf(step);
  const isPart = marks.length > 0 && (total === null || positionOf(marks, null) < total);
  return isPart ? inRun(step, run) : step;
}

function accepted(
  state: TrackerState,
  index: number,
  before: TrackedStep,
  { next, sign }: Change,
  run: number,
  at: number,
): TrackerStep {
  const steps = state.steps.slice();
  steps[index] = next;
  // In a new run what is under way begins anew as well.
  const underWay = next.finishedAt === null;
  const begins =
    before.startedAt === null || (underWay && (before.finishedAt !== null || next.run > before.run));
  const completed = begins ? finishEarlier(steps, index, run, at) : [];
  if (before.completedAt === null && next.completedAt !== null) completed.push(next.step);
  return {
    state: {
      schemaVersion: 1,
      version: state.version + 1,
      startedAt: state.startedAt,
      observedAt: at,
      run,
      steps,
    },
    outcome: { applied: true, changed: true, started: before.startedAt === null, completed, sign },
  };
}

/** Finishes what is under way before `index`; gives the steps that are finished for the first time. */
function finishEarlier(steps: TrackedStep[], index: number, run: number, at: number): string[] {
  const completed: string[] = [];
  for (let earlier = 0; earlier < index; earlier += 1) {
    const step = steps[earlier];
    if (step?.startedAt === null || step?.finishedAt !== null) continue;
    steps[earlier] = { ...asFound(step, run), finishedAt: at, completedAt: step.completedAt ?? at };
    if (step.completedAt === null) completed.push(step.step);
  }
  return completed;
}
