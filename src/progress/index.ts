/**
 * Progress that is bound to a step and a subject: pure rules, the live {@link StepTracker}, and lines for people.
 *
 * @packageDocumentation
 */
export { applyStepEvent } from "./apply.js";
export { countBytes, type CountBytesOptions, type CountedStream, type NodeReadable } from "./count-bytes.js";
export { deadlineProgress, type DeadlineAddress, type SignProgress } from "./deadline-feed.js";
export { fitLine } from "./fit-line.js";
export { formatStep, type StepLine } from "./format-step.js";
export {
  OpenShellProgressKey,
  openShellStepEvents,
  openShellStepNames,
  openShellSteps,
  readOpenShellProgress,
  toOpenShellProgress,
  type EventMetadata,
  type OpenShellEvent,
  type OpenShellProgress,
  type OpenShellRequest,
  type OpenShellStep,
} from "./openshell.js";
export { formatDuration, formatSize } from "./quantity.js";
export { rebaseTracker } from "./rebase.js";
export { startTracking } from "./start-tracking.js";
export type { Pace, PartMark, TrackedStep, TrackerState } from "./state.js";
export type { StepDefinition } from "./step-definition.js";
export type {
  ReportOptions,
  RunOptions,
  StepEvent,
  StepFinish,
  StepReport,
  StepStart,
} from "./step-event.js";
export {
  NOTHING_PRINTED,
  plainLine,
  stepLines,
  type Printed,
  type StepLines,
  type StepLinesOptions,
} from "./step-lines.js";
export type {
  StepApplied,
  StepOutcome,
  StepRefusal,
  StepRefused,
  StepSign,
  TrackerStep,
} from "./step-outcome.js";
export { StepPrinter, type StepOutput, type StepPrinterOptions } from "./step-printer.js";
export { readSteps, type StepReading } from "./step-reading.js";
export { StepTracker } from "./step-tracker.js";
export type {
  FeedOptions,
  ProgressSink,
  StepTrackerEvents,
  StepTrackerOptions,
  StepTrackerRestoreOptions,
} from "./tracker-options.js";
