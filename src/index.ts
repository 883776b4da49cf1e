/**
 * Everything but the schemas and the test helpers: one import for a gateway. The entries beside it hold one primitive
 * each, for those who count bytes.
 *
 * @packageDocumentation
 */
export { isSlipwayError, SlipwayError, type SlipwayErrorCode, type SlipwayErrorDetail } from "./errors.js";
export {
  SteadyClock,
  systemClock,
  TimerQueue,
  type Alarm,
  type Clock,
  type ClockHost,
  type ClockStep,
  type ScheduleOptions,
  type TimerQueueOptions,
} from "./clock/index.js";
export * from "./conditions/index.js";
export * from "./deadline/index.js";
export * from "./phase/index.js";
export * from "./progress/index.js";
export * from "./retry/index.js";
