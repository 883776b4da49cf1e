/**
 * Deadlines in phases: pure rules over plain JSON, and {@link PhasedDeadline}, which adds a clock, a timer and events.
 *
 * @packageDocumentation
 */
export { applyDeadlineEvent } from "./apply.js";
export type { DeadlineBounds } from "./bounds.js";
export { deadlineConditions, type DeadlineConditionsOptions } from "./deadline-conditions.js";
export type {
  CancelEvent,
  ChangeEvent,
  ClaimCleanupEvent,
  CleanupDoneEvent,
  CompleteEvent,
  DeadlineEvent,
  EnterEvent,
  PauseEvent,
  ProgressEvent,
  RejectEvent,
  ResumeEvent,
  TickEvent,
  WaiveCleanupEvent,
} from "./event.js";
export { DeadlineExpiredError, StartRefusedError } from "./deadline-errors.js";
export type {
  DeadlineEvents,
  PhaseNotice,
  ProgressNotice,
  RenewalNotice,
  SettlementNotice,
} from "./live-events.js";
export type {
  Commit,
  CommitResult,
  PhasedDeadlineOptions,
  PhasedDeadlineRestoreOptions,
  PhasedDeadlineStartOptions,
} from "./live-options.js";
export type { Listener } from "../events/index.js";
export { PhasedDeadline, type CommittedDeadline } from "./phased-deadline.js";
export type { Applied, DeadlineOutcome, DeadlineStep, RefusalReason, Refused } from "./outcome.js";
export {
  definePlan,
  type DeadlinePhase,
  type DeadlinePlan,
  type PhasePlan,
  type PlanDefinition,
} from "./plan.js";
export { readDeadline, type DeadlineReading } from "./read.js";
export { rebaseClock } from "./rebase.js";
export {
  startAttempt,
  type ParentDeadline,
  type StartAttemptOptions,
  type StartConfiguration,
  type StartRefusal,
  type StartResult,
} from "./start.js";
export type {
  Cancellation,
  Cleanup,
  CleanupClaim,
  CleanupWaiver,
  DeadlineExpiry,
  DeadlineState,
  DeadlineStatus,
  LimitedBy,
  ProgressMark,
  RecordedConfiguration,
  Rejection,
} from "./state.js";
