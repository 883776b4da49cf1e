export type { Condition, ConditionCause, ConditionStatus, ConditionUpdate } from "./condition.js";
export { transitionTime } from "./transition-time.js";
export { conditionIsTrue, getCondition, removeCondition, setCondition } from "./condition-list.js";
