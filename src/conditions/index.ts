/**
 * Conditions in the shape of Kubernetes, catalogs of reasons with contracts, and conversion for older readers. Without
 * any dependency.
 *
 * @packageDocumentation
 */
export type {
  Condition,
  ConditionCause,
  ConditionStatus,
  ConditionUpdate,
  ConversionOrigin,
} from "./condition.js";
export { transitionTime } from "./transition-time.js";
export { conditionIsTrue, getCondition, removeCondition, setCondition } from "./condition-list.js";
export { mergeConditions } from "./merge-conditions.js";
export { type ConditionSummary, summarize, type SummarizeOptions } from "./summarize.js";
export {
  type ConditionIssue,
  conditionLimits,
  sanitizeReason,
  validateCondition,
} from "./condition-shape.js";
export { parseConditions } from "./parse-conditions.js";
export { type MatchOptions, matchesReason, type ReasonedCondition } from "./matches-reason.js";
export { convertConditions, type ConvertOptions, readContract } from "./convert-conditions.js";
export { type IsolationMatch, type IsolationMismatch, stateIsolationMismatch } from "./isolation-mismatch.js";
export type {
  ConditionPolarity,
  ConditionPresence,
  ConditionTypeEntry,
  ReasonCatalog,
  ReasonClass,
  ReasonEmission,
  ReasonEntry,
  ReasonOf,
  ReasonSource,
  RetiredReason,
} from "./catalog/reason-catalog.js";
export {
  type CatalogExtension,
  defineReasonCatalog,
  type EmissionDefinition,
  extendCatalog,
  type ReasonCatalogDefinition,
  type ReasonDefinition,
} from "./catalog/define-catalog.js";
export { describeReason, type DescribeOptions, type ReasonDescription } from "./catalog/describe-reason.js";
export { type KnownReason, type Reason, ReasonV1, ReasonV2 } from "./sandbox/reasons.js";
export { sandboxReasons } from "./sandbox/sandbox-reasons.js";
export type { CatalogDifference, DifferenceLevel } from "./catalog/catalog-difference.js";
export { compareCatalogs } from "./catalog/compare-catalogs.js";
