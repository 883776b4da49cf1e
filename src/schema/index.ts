/**
 * Strict decoding of what was persisted or sent, and JSON Schemas of the same. Needs zod.
 *
 * @packageDocumentation
 */
export { deadlineStateSchema, decodeDeadlineState } from "./deadline-state.js";
export { conditionListSchema, conditionSchema } from "./condition.js";
export { conditionsCrdSchema, deadlineCrdSchema, jsonSchemas } from "./json-schema.js";
export { decodeReasonCatalog, reasonCatalogSchema } from "./reason-catalog.js";
export type { JsonSchema } from "./structural-schema.js";
export { decodeTrackerState, trackerStateSchema } from "./tracker-state.js";
