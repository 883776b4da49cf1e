/**
 * The phase of a sandbox from a record and what a backend shows, gates that never dead-end, and the reconciler.
 *
 * @packageDocumentation
 */
export {
  acceptOperation,
  applyBackendMismatch,
  type AcceptOptions,
} from "./accept-operation.js";
export { applyExitReport, type ExitReport } from "./apply-exit-report.js";
export { applySession } from "./apply-session.js";
export { derivePhase, type PhaseDecision, type RejectedEvidence } from "./derive-phase.js";
export type { PhaseInput } from "./evidence.js";
export {
  allowedOperations,
  deleteRules,
  startRules,
  stopRules,
  type AllowedOperations,
  type GateDecision,
  type GateInput,
  type GateRule,
  type Operation,
  type OperationRoute,
} from "./gates/index.js";
export * from "./observe/index.js";
export type { Observation, Tri } from "./observation.js";
export type { OperateOptions, OperationCall, OperationOutcome } from "./operate.js";
export {
  parsePhase,
  phaseNumber,
  phaseNumbers,
  phases,
  type ParsedPhase,
  type Phase,
} from "./phase.js";
export type {
  ObservationSource,
  ObservedSandbox,
  Page,
  RecordStore,
  StoredRecord,
  WatchEvent,
} from "./ports.js";
export { reconcileRecord, type Reconciled } from "./reconcile-record.js";
export type { ReconcilerOptions } from "./reconciler-options.js";
export type { ReconcileOutcome, SweepReport } from "./reconcile-outcome.js";
export { Reconciler } from "./reconciler.js";
export {
  expectedRun,
  type DeadlineFacts,
  type DesiredState,
  type ExpectedRun,
  type PhasePolicy,
  type SandboxRecord,
  type Session,
} from "./record.js";
export { applyRecovery, planRecovery } from "./recovery.js";
export { resolveFailedOperation } from "./resolve-failed-operation.js";
export type { FactName, PhaseEffect, PhaseRule, RuleContext, RuleIndex } from "./rules/rule.js";
export { phaseRules } from "./rules/index.js";
export { applyShutdown, planShutdown } from "./shutdown.js";
export type { RecoveryResult, SweepOptions, SweepPlan } from "./sweep.js";
export type { Transition } from "./transition.js";
