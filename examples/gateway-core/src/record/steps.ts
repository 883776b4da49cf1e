import {
  applyStepEvent,
  startTracking,
  type StepDefinition,
  type StepOutcome,
  type TrackedStep,
  type TrackerState,
} from "slipway/progress";
import { headOf } from "../cut-text.js";
import type { ImageSpec } from "./record.js";

/** The step that ends when the image that was asked for is ready to be run from. */
const IMAGE_STEP = "image";

/** As many as a tracker holds. A driver that names more is refused, like one that names a step nobody knows. */
const MAX_STEPS = 64;
const MAX_SUBJECT_LENGTH = 1024;

/** How far a step of a driver's work has come. Positions of one step only rise; `done` is said once. */
export interface ReportedStep {
  readonly step: string;
  /** For people, of the finished step: `Image copied`. */
  readonly label: string;
  /** For people, of the step under way: `Copying image`. Default: the label. */
  readonly activeLabel?: string | undefined;
  /** What the step is about. That of the step `image` is the image that was asked for; another one's is refused. */
  readonly subject: string;
  readonly unit: "bytes" | "none";
  /** A layer or chunk of the step; parts add up. */
  readonly part?: string | undefined;
  readonly position?: number | undefined;
  /** Absent when it is not known: a percentage is never made up. */
  readonly total?: number | undefined;
  /** For how long a backend says that it has been at it, where it counts nothing. A sign of life while it rises. */
  readonly busySeconds?: number | undefined;
  readonly done?: boolean | undefined;
}

/** Which start of the driver's work a report belongs to, and the image that the sandbox asked for. */
export interface ReportedRun {
  readonly run: number;
  readonly image: ImageSpec;
}

/** The steps of an attempt of which nothing was heard yet: there is an image to prepare, and this is its name. */
export function stepsOf(image: ImageSpec, now: number): TrackerState {
  const words = { label: "Image prepared", activeLabel: "Preparing image" };
  return startTracking([{ step: IMAGE_STEP, ...words, subject: clipped(image.name) }], now);
}

/**
 * What a driver's report makes of the steps, and what became of each event that it stands for: how far the step has
 * come, and that it is done.
 *
 * Drivers find out what there is to do while they do it, so a step is defined by the first report of it in a run. Other
 * words than the run before used for it are about other work, which begins anew; the same go on with the same entry.
 */
export function reportSteps(
  before: TrackerState,
  progress: ReportedStep,
  of: ReportedRun,
  now: number,
): { readonly steps: TrackerState; readonly outcomes: readonly StepOutcome[] } {
  const { position, total, part, busySeconds, done } = progress;
  const address = { step: progress.step, subject: clipped(progress.subject), run: of.run };
  const counts = position !== undefined && progress.unit === "bytes";
  const outcomes: StepOutcome[] = [];
  let steps = withDefinition(before, definitionOf(progress, of.image), of.run, now);
  const take = (event: Parameters<typeof applyStepEvent>[1]): void => {
    const { state, outcome } = applyStepEvent(steps, event, now);
    steps = state;
    outcomes.push(outcome);
  };
  // With its unit: bytes of a step that this run began without counting are a sign of life, and no other unit's count.
  if (counts) take({ type: "report", ...address, position, total, part, unit: progress.unit });
  else if (done !== true) take({ type: "start", ...address });
  if (busySeconds !== undefined) take({ type: "report", ...address, position: busySeconds, unit: "s" });
  if (done === true) take({ type: "finish", ...address });
  return outcomes.some(({ applied }) => applied) ? { steps, outcomes } : { steps: before, outcomes };
}

function definitionOf(progress: ReportedStep, image: ImageSpec): StepDefinition {
  const { step, label, activeLabel, unit } = progress;
  // What the image's step is about is no driver's to say: a bootstrap image that is ready first would take its place.
  const subject = clipped(step === IMAGE_STEP ? image.name : progress.subject);
  return { step, label, activeLabel, subject, unit };
}

function withDefinition(
  state: TrackerState,
  definition: StepDefinition,
  run: number,
  now: number,
): TrackerState {
  const { steps } = state;
  const index = steps.findIndex(({ step }) => step === definition.step);
  const known = steps[index];
  const [fresh] = startTracking([definition], now).steps;
  if (fresh === undefined || (known !== undefined && (heardIn(run, known) || sameWork(known, fresh))))
    return state;
  if (known === undefined && steps.length >= MAX_STEPS) return state;
  const others = steps.filter((step) => step !== known);
  // Behind what this run did before: what earlier runs did after it is still to come.
  const place = known === undefined ? steps.findLastIndex((step) => heardIn(run, step)) + 1 : index;
  return { ...state, version: state.version + 1, steps: others.toSpliced(place, 0, fresh) };
}

/** Runs are counted from 1, so what nobody has heard of is of none. */
function heardIn(run: number, step: TrackedStep): boolean {
  return step.startedAt !== null && step.run === run;
}

function sameWork(one: TrackedStep, other: TrackedStep): boolean {
  const { label, activeLabel, subject, unit } = one;
  return (
    label === other.label &&
    activeLabel === other.activeLabel &&
    subject === other.subject &&
    unit === other.unit
  );
}

/** A name without bounds is the path's that was asked for, and no such file can be there. */
function clipped(subject: string): string {
  return headOf(subject, MAX_SUBJECT_LENGTH);
}
