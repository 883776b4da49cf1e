export { allowedOperations, type AllowedOperations } from "./allowed-operations.js";
export { deleteRules } from "./delete-rules.js";
export type { GateDecision, GateInput, GateRule, Operation, OperationRoute } from "./gate-rule.js";
export { startRules } from "./start-rules.js";
export { stopRules } from "./stop-rules.js";
