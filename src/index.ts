export { isSlipwayError, SlipwayError, type SlipwayErrorCode, type SlipwayErrorDetail } from "./errors.js";
export * from "./clock/index.js";
export * from "./conditions/index.js";
export * from "./retry/index.js";
