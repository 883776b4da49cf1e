export { deadlineStateSchema, decodeDeadlineState } from "./deadline-state.js";
